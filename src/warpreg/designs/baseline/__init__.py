"""The register file without additions."""
