import { duplicateField, type FieldError, notSupportedField, requiredField } from "../../../../base/api/field-error.ts";
import { qualifiedName } from "../../../../base/api/names.ts";
import type { ServicePort, ServiceSpec } from "../../../types/service.ts";
import { labelName, portNumber, pushInvalid, pushPortErrors } from "../../shared-rules/formats.ts";

const PROTOCOLS = ["SCTP", "TCP", "UDP"];

/** Validates each ServicePort separately. */
export function portErrors({ ports = [] }: ServiceSpec): FieldError[] {
  const names = new Set<string>();
  return ports.flatMap((port, index) => {
    const path = `spec.ports[${index}]`;
    const { name = "" } = port;
    const errors: FieldError[] = [];
    if (name === "" && ports.length > 1) errors.push(requiredField(`${path}.name`));
    if (name !== "") {
      pushInvalid(errors, `${path}.name`, name, labelName(name));
      if (names.has(name)) errors.push(duplicateField(`${path}.name`, name));
      names.add(name);
    }
    return [...errors, ...numberErrors(port, path)];
  });
}

function numberErrors(
  { port = 0, protocol = "", targetPort = 0, appProtocol }: ServicePort,
  path: string,
): FieldError[] {
  const errors: FieldError[] = [];
  pushInvalid(errors, `${path}.port`, port, portNumber(port));
  if (!PROTOCOLS.includes(protocol)) errors.push(notSupportedField(`${path}.protocol`, protocol, PROTOCOLS));
  pushPortErrors(errors, `${path}.targetPort`, targetPort);
  if (appProtocol !== undefined) pushInvalid(errors, `${path}.appProtocol`, appProtocol, qualifiedName(appProtocol));
  return errors;
}
