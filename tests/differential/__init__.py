"""Random programs on the reference interpreter and on the executor, before and after every stage of the compiler."""
