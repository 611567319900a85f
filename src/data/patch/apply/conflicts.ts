import { type ApiError, ownedByOthers } from "../../../base/api/api-error.ts";
import type { StatusCause } from "../../../base/api/status.ts";
import { quote } from "../../../base/go/quote.ts";
import type { Conflicts } from "./change-managers.ts";
import { pathsOf } from "./field-set.ts";
import type { Manager, Managers } from "./managers.ts";
import { compareText, describeElement, type PathElement } from "./path-element.ts";

/**
 * 409 of server-side apply: other managers own fields that an apply would change. Each path is a cause. Managers are
 * sorted by identity.
 */
export function applyConflict(conflicts: Conflicts, managers: Managers): ApiError {
  const causes: StatusCause[] = [];
  const groups: string[] = [];
  for (const id of [...conflicts.keys()].sort(compareText)) {
    const manager = managers.get(id);
    const fields = conflicts.get(id);
    if (manager === undefined || fields === undefined) continue;
    const who = describeManager(manager);
    groups.push(`conflicts with ${who}:`);
    for (const path of pathsOf(fields)) {
      const field = describePath(path);
      causes.push({ reason: "FieldManagerConflict", message: `conflict with ${who}`, field });
      groups.push(`- ${field}`);
    }
  }
  return ownedByOthers(messageOf(causes, groups), causes);
}

function messageOf(causes: readonly StatusCause[], groups: readonly string[]): string {
  const [first] = causes;
  if (causes.length === 1 && first !== undefined) {
    return `Apply failed with 1 conflict: ${first.message}: ${first.field}`;
  }
  return `Apply failed with ${causes.length} conflicts: ${groups.join("\n")}`;
}

/** A path as shown in messages: `.spec.containers[name="main"].image`. */
export function describePath(path: readonly PathElement[]): string {
  return path.map(describeElement).join("");
}

function describeManager({ name, operation, apiVersion, subresource }: Manager): string {
  const part = subresource === "" ? "" : ` with subresource ${quote(subresource)}`;
  return `${quote(name)}${part}${operation === "Update" ? ` using ${apiVersion}` : ""}`;
}
