"""Plots as SVG text, without a library: lines, points and bars, with logarithmic axes and error
bars.

Sections make a Plot and put it in what they show; report.py places its SVG in the page and its
numbers in a table and a CSV file beside it. Colours are CSS variables of the page, so that a plot
follows dark mode and print; series differ by the shape of their marks as well, for print in black
and for eyes that see colours differently. Figures quoted from the paper are drawn dashed and grey
with hollow marks.
"""
import math
from html import escape

WIDTH, HEIGHT = 720, 400
LEFT, RIGHT, TOP, BOTTOM = 76, 20, 16, 56
LETTER = 7.0  # about how wide one is, at the size of the labels
SHAPES = ("circle", "square", "triangle", "diamond", "cross", "down", "plus")
COLOURS = 8

# For a plot that stands alone in a file: what report.py's page defines otherwise.
STANDALONE_STYLE = """
svg{--ink:#1c2127;--soft:#59636e;--line:#c9d1d9;--paper:#fff;--s0:#1f5fbf;--s1:#c2410c;--s2:#15803d;
--s3:#7e22ce;
--s4:#0e7490;--s5:#a16207;--s6:#be185d;--s7:#4d5358;background:var(--paper)}
@media (prefers-color-scheme:dark){svg{--ink:#e6edf3;--soft:#9aa6b2;--line:#3a434d;--paper:#12171d;
--s0:#79b0ff;
--s1:#ff9d5c;--s2:#5fd38a;--s3:#c79bff;--s4:#56cfe1;--s5:#e3b341;--s6:#ff7eb6;--s7:#b1bac4}}
text{font:12px system-ui,sans-serif;fill:var(--ink)}
"""


class Series:
    """Points (x, y) or (x, y, low, high) under a name. A `quoted` one is the paper's, not this
    run's."""

    def __init__(self, name, points, quoted=False, line=True):
        self.name = str(name)
        self.points = [tuple(p) + (None, None) if len(p) == 2 else tuple(p) for p in points]
        self.quoted = quoted
        self.line = line
        for x, y, low, high in self.points:
            for value in (y, low, high) if isinstance(x, str) else (x, y, low, high):
                if value is not None and not math.isfinite(value):
                    raise ValueError(f"{name}: a point of a plot is not finite")


def number_text(value):
    """A number for people: as many digits as say something, thousands apart."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) or (abs(value) >= 1000 and value == int(value)):
        return f"{int(value):,}"
    if value == 0:
        return "0"
    size = abs(value)
    if size >= 1e7 or size < 1e-4:
        return f"{value:.3g}"
    if size >= 1000:
        return f"{value:,.0f}"
    digits = 1 if size >= 100 else 2 if size >= 10 else 3 if size >= 1 else 4
    return f"{value:.{digits}f}"


def tick_text(value):
    if value == 0:
        return "0"
    size = abs(value)
    if size >= 1e9:
        return f"{value / 1e9:g} G"
    if size >= 1e6:
        return f"{value / 1e6:g} M"
    if size < 1e-3:
        return f"{value:.0e}".replace("e-0", "e-")
    return f"{value:,.10g}"


class Axis:
    """Data to pixels along one side, and where its ticks are."""

    def __init__(self, values, log, low_pixel, high_pixel, from_zero=False):
        if not values:
            raise ValueError("a plot without points")
        low, high = min(values), max(values)
        self.log = log
        if log:
            if low <= 0:
                raise ValueError(
                    "a logarithmic axis has no place for numbers that are not above zero")
            low, high = math.log10(low), math.log10(high)
        if from_zero and not log:
            low, high = min(0.0, low), max(0.0, high)
        if high - low < 1e-12:
            middle = abs(low) * 0.1 or 1.0
            low, high = low - (0.2 if log else middle), high + (0.2 if log else middle)
        margin = (high - low) * 0.05
        self.low = low if from_zero and not log and low == 0 else low - margin
        self.high = high + margin
        self.low_pixel, self.high_pixel = low_pixel, high_pixel

    def place(self, value):
        value = math.log10(value) if self.log else value
        return (self.low_pixel + (value - self.low) / (self.high - self.low) *
                (self.high_pixel - self.low_pixel))

    def ticks(self):
        return self._log_ticks() if self.log else self._linear_ticks()

    def _linear_ticks(self):
        raw = (self.high - self.low) / 6
        unit = 10 ** math.floor(math.log10(raw))
        step = next(unit * m for m in (1, 2, 2.5, 5, 10) if unit * m >= raw)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [round(i * step, 12) for i in range(first, last + 1)]

    def _log_ticks(self):
        decades = range(math.floor(self.low), math.ceil(self.high) + 1)
        for factors in ((1,), (1, 3), (1, 2, 5), tuple(range(1, 10))):
            ticks = [f * 10.0 ** d for d in decades for f in factors
                     if self.low - 1e-9 <= math.log10(f * 10.0 ** d) <= self.high + 1e-9]
            if len(ticks) >= 4:
                break
        while len(ticks) > 9:
            ticks = ticks[::2]
        return ticks


def mark(shape, x, y, size, attributes):
    r = size
    if shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r}" {attributes}/>'
    corners = {
        "square": [(-r, -r), (r, -r), (r, r), (-r, r)], "triangle": [(0, -r * 1.2),
                                                                     (r * 1.1, r * 0.9),
                                                                     (-r * 1.1, r * 0.9)],
        "down": [(0, r * 1.2), (r * 1.1, -r * 0.9),
                 (-r * 1.1, -r * 0.9)], "diamond": [(0, -r * 1.3), (r * 1.3, 0), (0, r * 1.3),
                                                    (-r * 1.3, 0)], "cross": [(-r, -r * .5),
                                                                              (-r * .5, -r),
                                                                              (0, -r * .5),
                                                                              (r * .5, -r),
                                                                              (r, -r * .5),
                                                                              (r * .5, 0),
                                                                              (r, r * .5),
                                                                              (r * .5, r),
                                                                              (0, r * .5),
                                                                              (-r * .5, r),
                                                                              (-r, r * .5),
                                                                              (-r * .5, 0)],
        "plus": [(-r * .4, -r), (r * .4, -r), (r * .4, -r * .4), (r, -r * .4), (r, r * .4),
                 (r * .4, r * .4), (r * .4, r), (-r * .4, r), (-r * .4, r * .4), (-r, r * .4),
                 (-r, -r * .4), (-r * .4, -r * .4)],
    }[shape]
    points = " ".join(f"{x + a:.1f},{y + b:.1f}" for a, b in corners)
    return f'<polygon points="{points}" {attributes}/>'


class Plot:
    """kind is line, scatter or bar; bars have text for x. `name` is what its CSV file is called."""

    def __init__(self, name, title, x_label, y_label, series, kind="line", log_x=False, log_y=False,
                 from_zero=False, note="", x_ticks=None):
        self.name, self.title = name, title
        self.x_label, self.y_label = x_label, y_label
        self.series = [s for s in series if s.points]
        self.kind, self.log_x, self.log_y = kind, log_x, log_y
        self.from_zero = from_zero or kind == "bar"
        self.note = note
        self.x_ticks = x_ticks
        if not self.series:
            raise ValueError(f"{name}: a plot without points")

    # ---- the numbers -----------------------------------------------------------------------------

    def columns(self):
        has_spread = any(p[2] is not None for s in self.series for p in s.points)
        return ["series", self.x_label, self.y_label] + (["low", "high"] if has_spread else [])

    def rows(self):
        width = len(self.columns())
        return [([s.name + (" (quoted from the paper)" if s.quoted else ""), *p])[:width]
                for s in self.series for p in s.points]

    # ---- the drawing -----------------------------------------------------------------------------

    def svg(self, standalone=False):
        legend, legend_height = self._legend()
        height = HEIGHT + legend_height
        top = TOP + legend_height
        y_values = [v for s in self.series for p in s.points for v in p[1:] if v is not None]
        y_axis = Axis(y_values, self.log_y, height - BOTTOM, top, self.from_zero)
        names = None
        if self.kind == "bar":
            names = list(dict.fromkeys(str(p[0]) for s in self.series for p in s.points))
            x_axis = None
        else:
            x_axis = Axis([p[0] for s in self.series for p in s.points], self.log_x, LEFT,
                          WIDTH - RIGHT)
        parts = [self._frame(x_axis, y_axis, names, top, height), legend]
        for index, series in enumerate(self.series):
            draw = self._bars if self.kind == "bar" else self._points
            parts.append(draw(index, series, x_axis, y_axis, names))
        namespace = ' xmlns="http://www.w3.org/2000/svg"' if standalone else ""
        style = f"<style>{STANDALONE_STYLE}</style>" if standalone else ""
        return (
            f'<svg{namespace} viewBox="0 0 {WIDTH} {height}" role="img" '
            f'aria-label="{escape(self.title)}">'
            f"{style}<title>{escape(self.title)}</title>{''.join(parts)}</svg>")

    def colour(self, index):
        series = self.series[index]
        if series.quoted:
            return "var(--soft)"
        place = [s for s in self.series if not s.quoted].index(series)
        return f"var(--s{place % COLOURS})"

    def _legend(self):
        parts, x, y = [], LEFT, 14
        for index, series in enumerate(self.series):
            text = series.name + (" (quoted from the paper)" if series.quoted else "")
            width = 30 + LETTER * len(text)
            if x > LEFT and x + width > WIDTH - RIGHT:
                x, y = LEFT, y + 20
            parts.append(
                self._stroke(index, [(x, y - 4), (x + 20,
                                                  y - 4)]) if self._has_line(series) else "")
            parts.append(self._mark(index, x + 10, y - 4, ""))
            parts.append(f'<text x="{x + 26}" y="{y}">{escape(text)}</text>')
            x += width + 12
        return "".join(parts), y

    def _has_line(self, series):
        return self.kind == "line" and series.line

    def _stroke(self, index, places):
        dash = ' stroke-dasharray="5 4"' if self.series[index].quoted else ""
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        return (
            f'<polyline points="{points}" fill="none" stroke="{self.colour(index)}" '
            f'stroke-width="2"{dash}/>'
        )

    def _mark(self, index, x, y, title, size=4):
        fill = "var(--paper)" if self.series[index].quoted else self.colour(index)
        attributes = f'fill="{fill}" stroke="{self.colour(index)}" stroke-width="1.5"'
        shape = mark(SHAPES[index % len(SHAPES)], x, y, size, attributes)
        return f"<g><title>{escape(title)}</title>{shape}</g>" if title else shape

    def _frame(self, x_axis, y_axis, names, top, height):
        bottom = height - BOTTOM
        parts = []
        for tick in y_axis.ticks():
            y = y_axis.place(tick)
            parts.append(
                f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" '
                'stroke="var(--line)"/>'
                f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{tick_text(tick)}</text>')
        if names is None:
            ticks = self.x_ticks or x_axis.ticks()
            for tick in ticks:
                x = x_axis.place(tick)
                parts.append(
                    f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{bottom}" y2="{bottom + 5}" '
                    'stroke="var(--soft)"/>'
                    f'<text x="{x:.1f}" y="{bottom + 20}" '
                    f'text-anchor="middle">{tick_text(tick)}</text>'
                )
        else:
            slot = (WIDTH - RIGHT - LEFT) / len(names)
            for i, name in enumerate(names):
                parts.append(
                    f'<text x="{LEFT + slot * (i + .5):.1f}" y="{bottom + 20}" '
                    'text-anchor="middle">'
                    f"{escape(name)}</text>")
        parts.append(
            f'<polyline points="{LEFT},{top} {LEFT},{bottom} {WIDTH - RIGHT},{bottom}" fill="none" '
            f'stroke="var(--soft)"/>')
        parts.append(
            f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{height - 14}" text-anchor="middle">'
            f"{escape(self.x_label)}</text>")
        middle = (top + bottom) / 2
        parts.append(
            f'<text x="16" y="{middle}" text-anchor="middle" transform="rotate(-90 16 {middle})">'
            f"{escape(self.y_label)}</text>")
        return "".join(parts)

    def _spread(self, index, x, low, high, y_axis):
        if low is None or high is None or low == high:
            return ""
        a, b = y_axis.place(low), y_axis.place(high)
        return (f'<path d="M{x:.1f} {a:.1f}V{b:.1f}M{x - 4:.1f} {a:.1f}h8M{x - 4:.1f} {b:.1f}h8" '
                f'stroke="{self.colour(index)}" fill="none" stroke-width="1.3"/>')

    def _said(self, series, point):
        spread = (f" ({number_text(point[2])} to {number_text(point[3])})"
                  if point[2] is not None else "")
        return (
            f"{series.name}: {self.x_label} {number_text(point[0])}, {self.y_label} "
            f"{number_text(point[1])}{spread}"
        )

    def _points(self, index, series, x_axis, y_axis, _names):
        places = [(x_axis.place(p[0]), y_axis.place(p[1])) for p in series.points]
        parts = []
        if self._has_line(series) and len(places) > 1:
            parts.append(self._stroke(index, places))
        size = 4 if len(places) <= 40 else 2
        for (x, y), point in zip(places, series.points):
            parts.append(self._spread(index, x, point[2], point[3], y_axis))
            parts.append(self._mark(index, x, y, self._said(series, point), size))
        return "".join(parts)

    def _bars(self, index, series, _x_axis, y_axis, names):
        slot = (WIDTH - RIGHT - LEFT) / len(names)
        width = slot * 0.8 / len(self.series)
        parts = []
        for point in series.points:
            left = LEFT + slot * (names.index(str(point[0])) + 0.1) + width * index
            # From the bottom of a logarithmic axis, which has no zero.
            base = HEIGHT + self._legend()[1] - BOTTOM if self.log_y else y_axis.place(0)
            y = y_axis.place(point[1])
            fill = "var(--paper)" if series.quoted else self.colour(index)
            dash = ' stroke-dasharray="4 3"' if series.quoted else ""
            parts.append(
                f'<g><title>{escape(self._said(series, point))}</title><rect x="{left:.1f}" '
                f'y="{min(y, base):.1f}" width="{width:.1f}" height="{abs(base - y):.1f}" '
                f'fill="{fill}" '
                f'stroke="{self.colour(index)}"{dash}/></g>')
            parts.append(self._spread(index, left + width / 2, point[2], point[3], y_axis))
        return "".join(parts)
