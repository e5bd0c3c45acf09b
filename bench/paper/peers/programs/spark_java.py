"""Ends the Java that pyspark has started and waits for it: its processor time is then that of the
peer, and not of something else that disturbed the machine."""
from pyspark import SparkContext


def end_java():
    gateway = SparkContext._gateway
    SparkContext._active_spark_context.stop()
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait()
