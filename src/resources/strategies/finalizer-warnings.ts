import { qualifiedName } from "../../base/api/names.ts";
import type { KubeObject } from "../../base/api/object.ts";
import { quote } from "../../base/go/quote.ts";

const STANDARD: ReadonlySet<string> = new Set(["orphan", "foregroundDeletion", "kubernetes"]);

/**
 * Warnings about new finalizers with names that may conflict. Upstream: `generateWarningsFromObj` of custom resources,
 * which ignores status writes.
 */
export function finalizerWarnings(next: KubeObject, previous: KubeObject | undefined, subresource: string): string[] {
  if (subresource === "status") return [];
  const before = new Set(previous?.metadata.finalizers ?? []);
  const added = [...new Set(next.metadata.finalizers ?? [])].filter((finalizer) => !before.has(finalizer));
  return added.sort().flatMap((finalizer) => {
    const warn = (text: string) => `metadata.finalizers: ${quote(finalizer)}: ${text}`;
    const texts = qualifiedName(finalizer).map(warn);
    if (finalizer.includes("/") || STANDARD.has(finalizer)) return texts;
    const path = finalizer.includes(".") ? " including a path (/)" : "";
    const advice = `prefer a domain-qualified finalizer name${path} to avoid accidental conflicts with other finalizer writers`;
    return [...texts, warn(advice)];
  });
}
