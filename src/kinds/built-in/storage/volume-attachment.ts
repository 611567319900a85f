import {
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
  tooLongField,
} from "../../../base/api/field-error.ts";
import { byteLength } from "../../../base/api/names.ts";
import { isObject, type JsonObject, type KubeObject } from "../../../base/api/object.ts";
import { addAll } from "../../../base/util/add-all.ts";
import type { ResourceHooks } from "../../../resources/model/definition.ts";
import type { Texts } from "../../types/meta.ts";
import type { PersistentVolumeSpec } from "../../types/persistent-volume.ts";
import { checkDriverName } from "../core/volume/volume-source-validation.ts";
import { declaredHook } from "../shared-rules/declared.ts";
import { pushInvalid, rangeMessage, subdomainName } from "../shared-rules/formats.ts";
import { sameValue } from "../shared-rules/immutable.ts";
import { inlineVolumeErrors, setInlineVolumeDefaults } from "./inline-volume.ts";

interface AttachmentSpec extends JsonObject {
  attacher?: string;
  nodeName?: string;
  source?: { persistentVolumeName?: string; inlineVolumeSpec?: PersistentVolumeSpec };
}

interface VolumeError extends JsonObject {
  message?: string;
  errorCode?: number;
}

interface AttachmentStatus extends JsonObject {
  attachmentMetadata?: Texts;
  attachError?: VolumeError;
  detachError?: VolumeError;
}

const MAX_METADATA = 262_144;
const MAX_MESSAGE = 1024;
const ONE_SOURCE = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";

const declaredErrors = declaredHook(
  {
    VolumeAttachment: { fields: { spec: { immutable: true } } },
    VolumeAttachmentSpec: {
      fields: { attacher: { required: true, format: "long-name-caseless", maxLength: 63 } },
    },
  },
  (version) => `io.k8s.api.storage.${version}.VolumeAttachment`,
);

const specOf = ({ spec }: KubeObject) => (isObject(spec) ? spec : {}) as AttachmentSpec;

function specErrors({ nodeName = "", source = {} }: AttachmentSpec): FieldError[] {
  const { persistentVolumeName: volume, inlineVolumeSpec: inline } = source;
  const errors: FieldError[] = [];
  if (volume === undefined && inline === undefined) errors.push(requiredField("spec.source", ONE_SOURCE));
  else if (volume !== undefined && inline !== undefined) errors.push(forbiddenField("spec.source", ONE_SOURCE));
  else if (volume === "") {
    errors.push(requiredField("spec.source.persistentVolumeName", "must specify non empty persistentVolumeName"));
  } else if (inline) addAll(errors, inlineVolumeErrors(inline, "spec.source.inlineVolumeSpec"));
  pushInvalid(errors, "spec.nodeName", nodeName, subdomainName(nodeName));
  return errors;
}

/** Compat: a `spec.attacher` that is not a valid CSI driver name is reported in addition to "field is immutable". */
function changedAttacherErrors(next: AttachmentSpec, previous: AttachmentSpec | undefined): FieldError[] {
  const errors: FieldError[] = [];
  if (previous && !sameValue(next, previous)) checkDriverName(errors, next.attacher ?? "", "spec.attacher");
  return errors;
}

function problemErrors(problem: VolumeError | undefined, path: string): FieldError[] {
  const { message = "", errorCode = 0 } = problem ?? {};
  const errors = byteLength(message) > MAX_MESSAGE ? [tooLongField(`${path}.message`, MAX_MESSAGE)] : [];
  if (errorCode < 0) errors.push(invalidField(`${path}.errorCode`, errorCode, rangeMessage(0, 2 ** 31 - 1)));
  return errors;
}

function statusErrors({ attachmentMetadata = {}, attachError, detachError }: AttachmentStatus): FieldError[] {
  const entries = Object.entries(attachmentMetadata);
  const bytes = entries.reduce((sum, [key, value]) => sum + byteLength(key) + byteLength(value), 0);
  return [
    ...(bytes > MAX_METADATA ? [tooLongField("status.attachmentMetadata", MAX_METADATA)] : []),
    ...problemErrors(attachError, "status.attachError"),
    ...problemErrors(detachError, "status.detachError"),
  ];
}

/** VolumeAttachment: attaches a volume to a node; its spec is immutable. */
export const volumeAttachmentHooks: ResourceHooks = {
  setDefaults(attachment) {
    const { inlineVolumeSpec } = specOf(attachment).source ?? {};
    if (inlineVolumeSpec) setInlineVolumeDefaults(inlineVolumeSpec);
  },
  validate(next, previous, context) {
    const spec = specOf(next);
    const { status } = next as KubeObject & { status?: AttachmentStatus };
    const errors = [
      ...changedAttacherErrors(spec, previous && specOf(previous)),
      ...specErrors(spec),
      ...statusErrors(status ?? {}),
    ];
    const volume = spec.source?.persistentVolumeName;
    if (volume !== undefined) pushInvalid(errors, "spec.source.persistentVolumeName", volume, subdomainName(volume));
    return [...errors, ...declaredErrors(next, previous, context)];
  },
};
