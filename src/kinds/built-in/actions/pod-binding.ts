import { badRequest, conflict, plainError } from "../../../base/api/api-error.ts";
import { type FieldError, notSupportedField, printFieldError, requiredField } from "../../../base/api/field-error.ts";
import { isObject, type KubeObject } from "../../../base/api/object.ts";
import type { Status } from "../../../base/api/status.ts";
import { quote } from "../../../base/go/quote.ts";
import type { ActionCall } from "../../../resources/model/actions.ts";
import type { ObjectAccess } from "../../../resources/model/definition.ts";
import { podSpecOf } from "../../types/pod.ts";
import { podStatusOf } from "../../types/pod-status.ts";
import { pushInvalid, subdomainName } from "../shared-rules/formats.ts";
import { setPodCondition } from "./pod-conditions.ts";

/** The Status "Success" of pods/binding and pods/eviction. */
export const SUCCESS: Status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success" };

/** pods/binding: sets `spec.nodeName`, as requested by the scheduler. */
export async function bindPod({ access, key, body, dryRun }: ActionCall): Promise<Status> {
  const { name = "", uid, resourceVersion } = body.metadata;
  if (name !== key.name) throw badRequest("name in URL does not match name in Binding object");
  const node = checkTarget(body);
  if (name === "") throw badRequest("Name parameter required.");
  await access.update("", "pods", key, (pod) => assign(pod, node, body, access), {
    subresource: "binding",
    preconditions: { uid, resourceVersion },
    dryRun,
  });
  return SUCCESS;
}

/**
 * The name of the node. Compat: errors of `ValidatePodBinding` are aggregated to plain text, so the response is a 500
 * without a reason.
 */
function checkTarget(binding: KubeObject): string {
  const { kind = "", name = "" } = isObject(binding.target) ? binding.target : {};
  const node = String(name);
  const errors: FieldError[] = [];
  const isNode = kind === "" || kind === "Node";
  if (!isNode) errors.push(notSupportedField("target.kind", kind, ["Node", "<empty>"]));
  if (node === "") errors.push(requiredField("target.name"));
  else if (isNode) pushInvalid(errors, "target.name", node, subdomainName(node));
  if (errors.length === 0) return node;
  const texts = errors.map(printFieldError);
  throw plainError(500, texts.length === 1 ? (texts[0] ?? "") : `[${texts.join(", ")}]`);
}

function assign(pod: KubeObject, node: string, binding: KubeObject, { clock }: ObjectAccess): KubeObject {
  const { metadata } = pod;
  const name = metadata.name ?? "";
  const refuse = (text: string) => conflict({ group: "", resource: "pods/binding" }, name, `pod ${name} ${text}`);
  const spec = podSpecOf(pod);
  const status = podStatusOf(pod);
  if (metadata.deletionTimestamp !== undefined) throw refuse("is being deleted, cannot be assigned to a host");
  if (spec.nodeName) throw refuse(`is already assigned to node ${quote(spec.nodeName)}`);
  if ((spec.schedulingGates ?? []).length > 0) throw refuse("has non-empty .spec.schedulingGates");
  const { annotations, labels } = binding.metadata;
  if (annotations) metadata.annotations = { ...metadata.annotations, ...annotations };
  if (labels) metadata.labels = { ...metadata.labels, ...labels };
  spec.nodeName = node;
  delete status.nominatedNodeName;
  setPodCondition(status, { type: "PodScheduled", status: "True" }, clock.now());
  return { ...pod, spec, status };
}
