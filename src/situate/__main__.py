"""`python -m situate` is `situate`."""

from situate.cli import main

if __name__ == "__main__":
    main()
