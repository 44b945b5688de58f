"""What works on uploads and jobs, in a loop and processes of its own."""
