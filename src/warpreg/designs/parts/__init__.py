"""What several designs use: storage, renaming, hints of the compiler, and the like; each folder is one part."""
