import { type FieldError, invalidField, requiredField } from "../../../base/api/field-error.ts";
import { parseGoUrl, UrlError } from "../../../base/go/go-url.ts";
import { quote } from "../../../base/go/quote.ts";
import { getMember } from "../../../base/util/members.ts";
import type { CustomResourceDefinition } from "../../types/custom-resource-definition.ts";

const ANNOTATION = "api-approved.kubernetes.io";
const SEE = "see https://github.com/kubernetes/enhancements/pull/1111";

/** The meaning of the annotation `api-approved.kubernetes.io`, and the reason. */
export interface Approval {
  readonly state: "invalid" | "approved" | "bypassed" | "missing";
  readonly reason: string;
}

/** The approval of a definition in a protected group of the Kubernetes project; undefined in all other groups. */
export function approvalOf({ spec, metadata }: CustomResourceDefinition): Approval | undefined {
  if (!/(^|\.)(k8s|kubernetes)\.io$/.test(spec?.group ?? "")) return undefined;
  const value = getMember(metadata.annotations ?? {}, ANNOTATION) ?? "";
  const must = `protected groups must have approval annotation ${quote(ANNOTATION)}`;
  if (value === "") return { state: "missing", reason: `${must}, ${SEE}` };
  if (value.startsWith("unapproved")) return { state: "bypassed", reason: `not approved: ${quote(value)}` };
  if (isAddress(value)) return { state: "approved", reason: `approved in ${value}` };
  return { state: "invalid", reason: `${must} with either a URL or a reason starting with "unapproved", ${SEE}` };
}

function isAddress(value: string): boolean {
  try {
    const { scheme, host } = parseGoUrl(value);
    return scheme !== "" && host !== "";
  } catch (error) {
    if (error instanceof UrlError) return false;
    throw error;
  }
}

/** Upstream: `validateAPIApproval`. An unchanged approval state is always accepted. */
export function approvalErrors(next: CustomResourceDefinition, previous?: CustomResourceDefinition): FieldError[] {
  const approval = approvalOf(next);
  if (!approval || (previous && approvalOf(previous)?.state === approval.state)) return [];
  const { state, reason } = approval;
  const path = `metadata.annotations[${ANNOTATION}]`;
  if (state === "missing") return [requiredField(path, reason)];
  return state === "invalid" ? [invalidField(path, next.metadata.annotations?.[ANNOTATION], reason)] : [];
}
