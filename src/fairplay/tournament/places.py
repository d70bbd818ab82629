"""Name what is where in the folder of a tournament."""

FILE = "tournament.jsonl"  # the notebook
MATCHES = "matches"  # the folder of journals
REPORT = "report.html"  # the page for people
KEY = "key"  # the file with the key to them
REPLAYS = "replays"  # the folder of pages to which the report links
