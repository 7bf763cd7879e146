"""A loop that is compiled to see whether compiling works: it is as small as can be."""


def triangle(n: int) -> int:
    """The sum of the numbers from 1 to n."""
    total = 0
    for i in range(1, n + 1):
        total += i
    return total
