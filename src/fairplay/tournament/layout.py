"""Name what is where in the directory of a tournament."""

LOG_FILE = "tournament.jsonl"  # the log
MATCHES_DIR = "matches"  # the directory of journals
REPORT_FILE = "report.html"  # the page for people
KEY_FILE = "key"  # the file with the key to them
REPLAYS_DIR = "replays"  # the directory of pages to which the report links
