import type { Call } from "../../base/api/call.ts";
import { apiVersionOf, type KubeObject } from "../../base/api/object.ts";
import { parseWriteQuery } from "../../base/api/options.ts";
import type { ApiReply } from "../../base/api/reply.ts";
import type { Status } from "../../base/api/status.ts";
import { type CreateAction, findAction } from "../../resources/model/actions.ts";
import type { SubresourceKind, Verb } from "../../resources/model/definition.ts";
import { viewObject } from "../../resources/read/object-view.ts";
import { toStoredForm } from "../../resources/write/explicit-empties.ts";
import { dedupeOwnerReferences, settleNamespace } from "../../resources/write/metadata.ts";
import { admissionRequest } from "./admission-request.ts";
import { readObject } from "./body.ts";
import { managerOf, recordManager } from "./field-manager.ts";
import { type CollectionTarget, inPlaceOf, type Target, type VerbContext } from "./target.ts";

/** A create that runs an action instead of storing the body. */
export interface Action {
  readonly run: CreateAction;
  /** The kind of the body. Undefined if it is the kind of the resource itself. */
  readonly kind: SubresourceKind | undefined;
}

/** The action of a create at this path. Undefined if the path has no action or the verb is not create. */
export function actionOf(
  { resources }: VerbContext,
  { resource, subresource }: Target,
  verb: Verb,
): Action | undefined {
  if (verb !== "create") return undefined;
  const { actions, storage } = resource.definition;
  const own = { action: storage ? undefined : actions?.create, kind: undefined };
  const { action, kind } = subresource === "" ? own : (resource.subresources[subresource] ?? {});
  return action === undefined ? undefined : { run: findAction(resources.actions.create, action), kind };
}

/** Runs an action and returns its result. */
export async function act(
  context: VerbContext,
  call: Call,
  target: CollectionTarget,
  { run, kind }: Action,
): Promise<ApiReply> {
  const { dryRun, fieldManager, fieldValidation } = parseWriteQuery("CreateOptions", call.request.query);
  const resource = kind ? inPlaceOf(target.resource, kind) : target.resource;
  const otherApiVersions = kind?.otherVersions?.map((version) => apiVersionOf(kind.group, version));
  const acting: Target = { ...target, resource, otherApiVersions };
  const sent = await readObject(context, call, acting, fieldValidation);
  const { metadata } = sent.object;
  settleNamespace(resource.definition, metadata, target.namespace);
  const duplicates = dedupeOwnerReferences(metadata);
  if (duplicates !== undefined) call.warnings.push(duplicates);
  const manager = managerOf(call, fieldManager);
  await recordManager(context, acting, { live: undefined, draft: sent, manager });
  const { object: body } = await toStoredForm(resource.definition, sent, sent.object.apiVersion);
  // Compat: `admission.Attributes` contain the resource of the path and the kind of the body.
  const request = admissionRequest(call, target, { operation: "CREATE", dryRun, object: body, body: resource });
  await context.admission.mutate(request);
  await context.admission.validate(request);
  const key = { namespace: target.namespace, name: target.name || (body.metadata.name ?? "") };
  const { identities, resources } = context;
  const warn = (text: string) => void call.warnings.push(text);
  const { user } = call;
  const { annotate } = request;
  const result = await run({ access: resources.access, key, body, dryRun, user, identities, warn, annotate });
  if (isStatus(result)) return { type: "status", status: { ...result, code: result.code ?? 201 } };
  return { type: "object", code: 201, view: viewObject(result), table: resource.version.table };
}

function isStatus(result: KubeObject | Status): result is Status {
  return result.kind === "Status" && result.apiVersion === "v1";
}
