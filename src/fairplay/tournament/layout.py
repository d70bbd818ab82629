"""Name the files in the directory of a tournament."""

LOG_FILE = "tournament.jsonl"
MATCHES_DIR = "matches"  # of journals
REPORT_FILE = "report.html"
KEY_FILE = "key"  # the key of these journals
REPLAYS_DIR = "replays"  # of pages that the report links to
