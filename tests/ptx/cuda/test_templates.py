"""Kernel templates that a source defines, with examples of their instantiation."""

from __future__ import annotations

import pytest

from warpreg.ptx.cuda.templates import templates


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("template <typename T> __global__ void fill(T *o) {}", {"fill": "fill<float>"}),
        ("template<class T, int N>\n__global__\nvoid f(T *o)\n{}", {"f": "f<float, 32>"}),
        ("template <bool B, unsigned int N, typename U = int> __global__ void f(int *o);", {"f": "f<true, 32>"}),
        ("template <int N> __launch_bounds__(256, (1 + 1)) __global__ void f() {}", {"f": "f<32>"}),
        ("template <int N> __global__ void __launch_bounds__(N) f() {}", {"f": "f<32>"}),
        ("template <int N> static __global__ void f() {}", {"f": "f<32>"}),
        ("template <typename T = int> __global__ void f(T *o) {}", {"f": "f<>"}),
        ("template <typename T, typename U = A<B<T>, int>> __global__ void f(T *o) {}", {"f": "f<float>"}),
        ("namespace a { namespace b { } namespace c { template <int N> __global__ void f(); } }", {"f": "a::c::f<32>"}),
        ("namespace a::b { void g() { } template <int N> __global__ void f(); }", {"f": "a::b::f<32>"}),
        ("namespace { template <int N> __global__ void f(); }", {"f": "f<32>"}),
        ("template <int N> __device__ void g() {} __global__ void f() {}", {}),
        ("// template <int N> __global__ void f();\n/* template <int N> __global__ void g(); */", {}),
        ("template <int N> struct S { int n; }; __global__ void f(S<1> s) {}", {}),
    ],
)
def test_templates_and_examples(source: str, found: dict[str, str]) -> None:
    assert templates(source) == found
