"""Matrix instructions: the matrices that they multiply, and the layout of elements in the registers of a warp."""

from warpreg.ir.tensor.fragment import Fragment, Place
from warpreg.ir.tensor.product import MatrixProduct, product_of

__all__ = ["Fragment", "MatrixProduct", "Place", "product_of"]
