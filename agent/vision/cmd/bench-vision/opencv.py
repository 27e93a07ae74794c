"""Runs OpenCV's matchTemplate on one thread, as often as it is told to.

Reads lines: "load SCREEN ANCHOR" is answered with the version, "run" with the
nanoseconds of processor time and of wall time, the best score and its place.
"""
import sys
import time

import cv2

cv2.setNumThreads(1)
screen = anchor = None
for line in sys.stdin:
    command, *paths = line.split()
    if command == "load":
        screen, anchor = (cv2.imread(path, cv2.IMREAD_GRAYSCALE) for path in paths)
        print(cv2.__version__, flush=True)
        continue
    wall, cpu = time.perf_counter_ns(), time.process_time_ns()
    scores = cv2.matchTemplate(screen, anchor, cv2.TM_CCOEFF_NORMED)
    cpu, wall = time.process_time_ns() - cpu, time.perf_counter_ns() - wall
    _, best, _, (x, y) = cv2.minMaxLoc(scores)
    print(cpu, wall, best, x, y, flush=True)
