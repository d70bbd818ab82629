"""Run the command as `python -m fairplay`, which is how a debugger starts it."""

from fairplay_command import main

if __name__ == "__main__":
    main()
