/* Values that a frame can hold in part: objects behind references, bit fields, repeated elements. It needs no C++ library. */

struct Shape
{
    int sides = 4;
    Shape *next = nullptr;
    constexpr Shape() {}
    virtual int area() { return 0; }
};

struct Square : Shape
{
    int side = 5;
    constexpr Square() {}
    int area() override { return side * side; }
};

struct Flags
{
    unsigned low : 4;
    unsigned middle : 20;
    unsigned high : 8;
    unsigned next : 8;
};

Square square;
Shape *shape = &square;
Shape &reference = square;
Flags flags = {3, 70000, 200, 9};
int numbers[400];

extern "C" void finish(void)
{
}

static int look(Shape &given, Flags &bits)
{
    int sum = given.sides + bits.middle;
    return sum;
}

extern "C" void _start(void)
{
    for (int i = 0; i < 400; i++)
        numbers[i] = 7;
    look(*shape, flags);
    finish();
    __asm__ volatile("syscall" : : "a"(60), "D"(0));
}
