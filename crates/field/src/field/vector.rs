//! Vectors and matrices of expressions.

use leastaction_expr::Expr;

/// A vector of expressions.
pub type ExprVector<'g> = [Expr<'g>; 3];

/// A matrix of expressions, by its columns.
pub(crate) type Columns<'g, const N: usize> = [ExprVector<'g>; N];

pub(crate) fn minus<'g>(a: ExprVector<'g>, b: ExprVector<'g>) -> ExprVector<'g> {
    std::array::from_fn(|i| a[i] - b[i])
}

pub(crate) fn dot<'g>(a: ExprVector<'g>, b: ExprVector<'g>) -> Expr<'g> {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(crate) fn cross<'g>(a: ExprVector<'g>, b: ExprVector<'g>) -> ExprVector<'g> {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

pub(crate) fn length(a: ExprVector<'_>) -> Expr<'_> {
    dot(a, a).sqrt()
}

/// det(a, b, c)
pub(crate) fn determinant<'g>([a, b, c]: Columns<'g, 3>) -> Expr<'g> {
    dot(a, cross(b, c))
}

/// The rows of the inverse of a matrix, by its columns.
pub(crate) fn inverse_rows<'g>([a, b, c]: Columns<'g, 3>) -> [ExprVector<'g>; 3] {
    let over = 1.0 / determinant([a, b, c]);
    [cross(b, c), cross(c, a), cross(a, b)].map(|row| row.map(|x| x * over))
}
