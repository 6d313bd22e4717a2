"""Register files of several technologies or supply states."""
