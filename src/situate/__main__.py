"""`python -m situate` is `situate`."""

from situate_command import main

if __name__ == "__main__":
    main()
