import { printDuration } from "../../../base/go/duration.ts";
import { printGoFloat } from "../../../base/go/float.ts";
import { quote } from "../../../base/go/quote.ts";
import { itemsOf } from "./lists.ts";
import { formatTimestamp } from "./time.ts";
import {
  Bytes,
  Double,
  Duration,
  ListValue,
  MapValue,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from "./value.ts";

/** Prints a value in a message like Go's %v: lists and maps in brackets, texts inside them in quotes. */
export function formatValue(value: Value, isInner = false): string {
  if (typeof value === "string") return isInner ? quote(value) : value;
  if (typeof value !== "object" || value === null) return String(value);
  if (value instanceof Double) return printGoFloat(value.value);
  if (value instanceof Uint) return isInner ? `${value.value}u` : `${value.value}`;
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof Duration) return printDuration(value.nanos);
  if (value instanceof TypeValue) return value.of.name;
  if (value instanceof Bytes) return `[${value.data.join(" ")}]`;
  if (value instanceof ListValue)
    return `[${itemsOf(value)
      .map((item) => formatValue(item, true))
      .join(", ")}]`;
  if (value instanceof MapValue) {
    const entries = [...value.keys()].map((key) => {
      return `${formatValue(key, true)}: ${formatValue(value.find(key) ?? null, true)}`;
    });
    return `{${entries.join(", ")}}`;
  }
  if (value instanceof Optional) {
    return value.value === undefined ? "optional.none()" : `optional(${formatValue(value.value, true)})`;
  }
  return value.type.name;
}
