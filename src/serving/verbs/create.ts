import type { Call } from "../../base/api/call.ts";
import { parseWriteQuery } from "../../base/api/options.ts";
import type { ApiReply } from "../../base/api/reply.ts";
import type { KindPresence } from "../../resources/model/definition.ts";
import { dedupeOwnerReferences, settleNamespace, wipeSystemMetadata } from "../../resources/write/metadata.ts";
import { admissionRequest } from "./admission-request.ts";
import { readObject } from "./body.ts";
import { managerOf, recordManager } from "./field-manager.ts";
import { mutateDraft } from "./mutate-draft.ts";
import type { CollectionTarget, VerbContext } from "./target.ts";

/** Creates an object. */
export async function create(context: VerbContext, call: Call, target: CollectionTarget): Promise<ApiReply> {
  const { presence } = target.resource.definition;
  if (presence) await settleKind(context, call, presence);
  const { dryRun, fieldManager, fieldValidation } = parseWriteQuery("CreateOptions", call.request.query);
  const draft = await readObject(context, call, target, fieldValidation);
  const { object } = draft;
  settleNamespace(target.resource.definition, object.metadata, target.namespace);
  const duplicates = dedupeOwnerReferences(object.metadata);
  if (duplicates !== undefined) call.warnings.push(duplicates);
  wipeSystemMetadata(object.metadata);
  await recordManager(context, target, { live: undefined, draft, manager: managerOf(call, fieldManager) });
  const write = { operation: "CREATE", dryRun, isNameless: !object.metadata.name } as const;
  const { holdsEmpties } = draft;
  await mutateDraft(context, call, target, admissionRequest(call, target, { ...write, object, holdsEmpties }));
  const view = await target.collection.create(target.resource, draft, {
    dryRun,
    user: call.user,
    warn: (text) => call.warnings.push(text),
    admit: (next) => context.admission.validate(admissionRequest(call, target, { ...write, object: next })),
  });
  return { type: "object", code: 201, view, table: target.resource.version.table };
}

const SETTLING_MS = 2000;

/**
 * Compat: `serveResource` delays a create by two seconds if the kind was established less than two seconds ago. Other
 * servers then know the kind before its first object exists. Without other servers there is no delay.
 */
async function settleKind({ resources }: VerbContext, { signal }: Call, presence: KindPresence): Promise<void> {
  const { clock } = resources;
  if (!presence.isShared || clock.now() - presence.establishedMs >= SETTLING_MS) return;
  await clock.sleep(SETTLING_MS, signal);
}
