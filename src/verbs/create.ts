import type { Call } from "../api/call.ts";
import { parseWriteQuery } from "../api/options.ts";
import type { ApiReply } from "../api/reply.ts";
import { dedupeOwnerReferences, settleNamespace, wipeSystemMetadata } from "../resources/write/metadata.ts";
import { readObject } from "./body.ts";
import { managerOf, recordManager } from "./field-manager.ts";
import { admissionRequest, type CollectionTarget, type VerbContext } from "./target.ts";

/** Creates one object. */
export async function create(context: VerbContext, call: Call, target: CollectionTarget): Promise<ApiReply> {
  const { dryRun, fieldManager, fieldValidation } = parseWriteQuery("CreateOptions", call.request.query);
  const draft = await readObject(context, call, target, fieldValidation);
  const { object } = draft;
  settleNamespace(target.resource.definition, object.metadata, target.namespace);
  const duplicates = dedupeOwnerReferences(object.metadata);
  if (duplicates !== undefined) call.warnings.push(duplicates);
  wipeSystemMetadata(object.metadata);
  const recorded = recordManager(context, target, { live: undefined, draft, manager: managerOf(call, fieldManager) });
  if (recorded instanceof Promise) await recorded;
  const write = { operation: "CREATE", dryRun } as const;
  await context.admission.mutate(admissionRequest(call, target, { ...write, object }));
  const view = await target.collection.create(target.resource, draft, {
    dryRun,
    user: call.user,
    warn: (text) => call.warnings.push(text),
    admit: (next) => context.admission.validate(admissionRequest(call, target, { ...write, object: next })),
  });
  return { type: "object", code: 201, view, table: target.resource.version.table };
}
