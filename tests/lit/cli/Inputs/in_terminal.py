"""in_terminal.py COLUMNS COMMAND...: runs a command whose standard error is a terminal of so many
columns, and prints what it wrote there, as Python text a line."""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios

leader, terminal = pty.openpty()
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(sys.argv[1]), 0, 0))
child = subprocess.Popen(sys.argv[2:], stdout=subprocess.DEVNULL, stderr=terminal)
os.close(terminal)
written = b""
while True:
    try:
        part = os.read(leader, 4096)
    except OSError:  # the child closed its end
        break
    if not part:
        break
    written += part
for line in written.decode().split("\r"):
    print(repr(line))
    if len(line.removeprefix("\x1b[K")) >= int(sys.argv[1]):
        sys.exit("a line is as wide as the terminal")
sys.exit(child.wait())
