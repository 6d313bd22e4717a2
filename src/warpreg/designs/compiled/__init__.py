"""Small register files whose values the compiler places."""
