// SPDX-License-Identifier: Apache-2.0
// The hot loops, written once over a vector type.  kernels_<set>.cpp defines `F32` and `F64`, rows of numbers that its
// instruction set handles at once, and includes this file inside a namespace of its own.
//
// Nothing here may be a function that other files have too (std::max, std::vector): compiled for a wide instruction set, it
// could be the copy that the linker keeps for the whole program.

/// Rows of A times vectors of B that one pass keeps in registers.
template <class V, int Rows, int Vectors>
inline __attribute__((always_inline)) void multiply_block(const Product<typename V::T>& p, int row, const typename V::T* panel,
                                                          typename V::T* d, ptrdiff_t d_stride, bool accumulate) {
  V sum[Rows][Vectors];
  for (int i = 0; i < Rows; ++i)
    for (int v = 0; v < Vectors; ++v) sum[i][v] = V::all(0);
  const typename V::T* a = p.a + row * p.a_stride;
  for (int l = 0; l < p.k; ++l) {
    V b[Vectors];
    for (int v = 0; v < Vectors; ++v) b[v] = V::load(panel + (l * Vectors + v) * V::kLanes);
    for (int i = 0; i < Rows; ++i) {
      const V x = V::all(a[i * p.a_stride + l]);
      for (int v = 0; v < Vectors; ++v) sum[i][v] = V::multiply_add(x, b[v], sum[i][v]);
    }
  }
  for (int i = 0; i < Rows; ++i)
    for (int v = 0; v < Vectors; ++v) {
      typename V::T* to = d + i * d_stride + v * V::kLanes;
      V::store(to, accumulate ? V::add_to(V::load(to), sum[i][v]) : V::canonical(sum[i][v]));
    }
}

template <class V, int Rows, int Vectors>
void multiply_rows(const Product<typename V::T>& p, int row, int rows, const typename V::T* panel, typename V::T* d,
                   ptrdiff_t d_stride, bool accumulate) {
  if (rows == Rows)
    multiply_block<V, Rows, Vectors>(p, row, panel, d, d_stride, accumulate);
  else if constexpr (Rows > 1)
    multiply_rows<V, Rows - 1, Vectors>(p, row, rows, panel, d, d_stride, accumulate);
}

/// B by columns: `panel` gets `lanes` values for each l, those past `columns` zero.
template <class T>
void pack_columns(const Product<T>& p, int column, int columns, int lanes, T* panel) {
  for (int j = 0; j < lanes; ++j) {
    const T* b = p.b + (column + j) * p.b_stride;
    if (j < columns)
      for (int l = 0; l < p.k; ++l) panel[l * lanes + j] = b[l];
    else
      for (int l = 0; l < p.k; ++l) panel[l * lanes + j] = 0;
  }
}

template <class V>
void multiply(const Product<typename V::T>& p) {
  using T = typename V::T;
  constexpr int kRows = V::kRows, kVectors = 2, kColumns = kVectors * V::kLanes;
  T edge[kRows * kColumns] = {};
  T* panel = static_cast<T*>(panel_buffer(size_t(p.k) * kColumns * sizeof(T)));
  for (int column = 0; column < p.n; column += kColumns) {
    const int columns = p.n - column < kColumns ? p.n - column : kColumns;
    pack_columns(p, column, columns, kColumns, panel);
    for (int row = 0; row < p.m; row += kRows) {
      const int rows = p.m - row < kRows ? p.m - row : kRows;
      T* d = p.d + row * p.d_stride + column;
      if (columns == kColumns) {
        multiply_rows<V, kRows, kVectors>(p, row, rows, panel, d, p.d_stride, p.accumulate);
        continue;
      }
      for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) edge[i * kColumns + j] = d[i * p.d_stride + j];
      multiply_rows<V, kRows, kVectors>(p, row, rows, panel, edge, kColumns, p.accumulate);
      for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) d[i * p.d_stride + j] = edge[i * kColumns + j];
    }
  }
}

#ifdef SM100_UNFUSED
/// The same without an instruction for a fused multiply-add: multiplication, then addition.  It is the same where every
/// product is exact in f32; products of very small or very large bf16 or tf32 are not, and take the function.
void multiply_one_by_one(const Product<float>& p) {
  for (int i = 0; i < p.m; ++i)
    for (int j = 0; j < p.n; ++j) {
      float sum = 0;
      for (int l = 0; l < p.k; ++l) sum = __builtin_fmaf(p.a[i * p.a_stride + l], p.b[j * p.b_stride + l], sum);
      float& d = p.d[i * p.d_stride + j];
      d = p.accumulate ? add_to(d, sum) : canonical(sum);
    }
}

struct Magnitudes {
  float smallest = 0x1p127f, largest = 0;  ///< of the finite values other than zero
};
Magnitudes magnitudes(const float* x, int rows, int k, ptrdiff_t stride) {
  Magnitudes all;
  for (int i = 0; i < rows; ++i)
    for (int l = 0; l < k; ++l) {
      const float value = __builtin_fabsf(x[i * stride + l]);
      all.smallest = value > 0 && value < all.smallest ? value : all.smallest;
      all.largest = value > all.largest && value <= 0x1.fffffep127f ? value : all.largest;
    }
  return all;
}

/// Products of two numbers with 12 significant bits each have 24: exact from 2^-126 on.
bool products_exact(const Product<float>& p) {
  const Magnitudes a = magnitudes(p.a, p.m, p.k, p.a_stride), b = magnitudes(p.b, p.n, p.k, p.b_stride);
  return double(a.smallest) * double(b.smallest) >= 0x1p-126 && double(a.largest) * double(b.largest) < 0x1p127;
}
#endif

void product_f32(const Product<float>& p) {
#ifdef SM100_UNFUSED
  if (!products_exact(p)) return multiply_one_by_one(p);
#endif
  multiply<F32>(p);
}

void product_f64(const Product<double>& p) { multiply<F64>(p); }

void take_later(uint32_t* to, const uint32_t* from, size_t count) {
  for (size_t i = 0; i < count; ++i) to[i] = to[i] < from[i] ? from[i] : to[i];
}

Later later_of(const uint32_t* a, const uint32_t* b, size_t count) {
  uint32_t of_a = 0, of_b = 0;
  for (size_t i = 0; i < count; ++i) {
    const uint32_t latest = a[i] < b[i] ? b[i] : a[i];
    of_a |= latest ^ b[i], of_b |= latest ^ a[i];
  }
  return {of_a != 0, of_b != 0};
}
