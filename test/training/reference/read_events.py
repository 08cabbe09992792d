"""Prints what TensorBoard's own reader finds in the folders train, validation and notes of a folder: tags and steps, and
texts. Needs tensorboard (2.21)."""
import os
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

for part in ("train", "validation", "notes"):
    events = EventAccumulator(os.path.join(sys.argv[1], part), size_guidance={"scalars": 0, "histograms": 0, "tensors": 0})
    events.Reload()
    tags = events.Tags()
    for tag in sorted(tags["scalars"]):
        print(part, tag, ",".join(str(e.step) for e in events.Scalars(tag)))
    for tag in sorted(tags["histograms"]):
        print(part, tag, ",".join(str(e.step) for e in events.Histograms(tag)))
    for tag in sorted(tags["tensors"]):
        plugin = events.SummaryMetadata(tag).plugin_data.plugin_name
        for e in events.Tensors(tag):
            print(part, tag, e.step, plugin, *(repr(text.decode()) for text in e.tensor_proto.string_val))
    if tags["graph"]:
        print(part, "graph", len(events.Graph().node))
