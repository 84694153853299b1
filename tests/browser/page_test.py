"""page_test.py CHROMIUM PAGE [SCREENSHOT_PREFIX]: opens a page of vnjit's in a headless browser, light
and dark, on a desk and on a phone, and checks what it shows: no error, nothing wider than the screen,
and every figure as in the data that the page carries."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

# Runs after the page's own scripts. What they throw was caught by the handler before them.
CHECK = """
<script>
(() => {
  const failures = [...window.failures];
  const figures = [...document.querySelectorAll("[data-figure]")];
  for (const shown of figures) {
    const value = shown.dataset.figure.split(".").reduce((v, key) => v?.[key], data);
    const expected = Number(value) * Number(shown.dataset.scale);
    const found = parseFloat(shown.textContent);
    if (typeof value !== "number" || !(Math.abs(found - expected) <= 1e-3 * Math.abs(expected))) {
      failures.push(`${shown.dataset.figure} is shown as ${shown.textContent}, not ${expected}`);
    }
  }
  if (figures.length === 0) failures.push("it shows no figures");
  const wide = document.scrollingElement.scrollWidth - window.innerWidth;
  if (wide > 0) failures.push(`it is ${wide} pixels wider than the screen`);
  for (const head of document.querySelectorAll("table.all th button")) {
    head.click();
    const column = [...head.closest("tr").children].indexOf(head.closest("th"));
    const texts = [...head.closest("table").querySelectorAll("tbody tr")].map(row => row.children[column].textContent);
    const numbers = texts.filter(text => text !== "").map(Number);
    const sorted = numbers.every(Number.isFinite)
      ? numbers.every((n, i) => i === 0 || numbers[i - 1] <= n) || numbers.every((n, i) => i === 0 || numbers[i - 1] >= n)
      : texts.every((t, i) => i === 0 || texts[i - 1] <= t) || texts.every((t, i) => i === 0 || texts[i - 1] >= t);
    if (!sorted) failures.push(`${head.textContent} does not sort`);
  }
  window.parent.document.body.setAttribute("data-result", JSON.stringify({failures, figures: figures.length,
    paper: getComputedStyle(document.body).backgroundColor}));
})();
</script>
"""
HANDLER = "<script>window.failures = []; window.onerror = message => { failures.push(message); };</script>"


# A window of the browser is never as narrow as a phone: there the page lies in a frame.
PHONE = """<!doctype html><body><iframe style="width:360px;height:780px;border:0"></iframe>
<script>document.querySelector("iframe").srcdoc = %s;</script></body>"""


def browse(chromium, page, theme, size, screenshot=None):
    command = [chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
               "--enable-logging=stderr", f"--window-size={size}", "--virtual-time-budget=5000",
               f"--blink-settings=preferredColorScheme={theme}"]
    command += [f"--screenshot={screenshot}"] if screenshot else ["--dump-dom"]
    with tempfile.TemporaryDirectory() as profile:
        done = subprocess.run(command + [f"--user-data-dir={profile}", page.as_uri()],
                              capture_output=True, text=True, timeout=120)
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return done.stdout, console


def main():
    chromium, page = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    text = page.read_text(encoding="utf-8")
    without_data = re.sub(r'<script type="application/json".*?</script>', "", text, flags=re.S)
    if re.search(r"""(src|href)=|url\(|@import|https?://(?!www\.w3\.org)""", without_data):
        sys.exit("the page loads something")
    papers = {}
    with tempfile.TemporaryDirectory() as folder:
        checked = pathlib.Path(folder) / "page.html"
        checked.write_text(text.replace("<body>", "<body>" + HANDLER).replace("</body>", CHECK + "</body>"),
                           encoding="utf-8")
        phone = pathlib.Path(folder) / "phone.html"
        phone.write_text(PHONE % json.dumps(checked.read_text(encoding="utf-8")).replace("</", "<\\/"),
                         encoding="utf-8")
        for theme, name in ((1, "light"), (0, "dark")):
            for opened, size in ((checked, "1280"), (phone, "360")):
                dom, console = browse(chromium, opened, theme, "1280,900")
                found = re.search(r'data-result="([^"]*)"', dom)
                if not found:
                    sys.exit(f"{name} {size}: the page's scripts did not end; {console}")
                result = json.loads(found.group(1).replace("&quot;", '"').replace("&amp;", "&"))
                if result["failures"] or console:
                    sys.exit(f"{name} {size}: {result['failures'][:5]} {console[:5]}")
                papers[name] = result["paper"]
                print(f"{name} {size}: {result['figures']} figures as in the data")
            if len(sys.argv) > 3:
                for size in ("1280,1800", "500,1800"):
                    browse(chromium, page, theme, size, f"{sys.argv[3]}-{name}-{size.split(',')[0]}.png")
    if papers["light"] == papers["dark"]:
        sys.exit("both themes have the same paper")


if __name__ == "__main__":
    main()
