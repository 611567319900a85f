/** One field of a protobuf message. `type` is as written, packages of other files spelled out with a leading dot. */
export interface ProtoTypeField {
  readonly name: string;
  readonly number: number;
  readonly label: "optional" | "repeated" | "map";
  readonly type: string;
}

const FIELD = /^\s*(?:(optional|repeated)\s+(\S+)|map<string,\s*([^>]+)>)\s+(\w+)\s*=\s*(\d+)/;

/** Reads the messages of a .proto text, fields in the order of the file. */
export function parseProtoMessages(source: string): Map<string, ProtoTypeField[]> {
  const messages = new Map<string, ProtoTypeField[]>();
  let fields: ProtoTypeField[] | undefined;
  for (const line of source.split("\n")) {
    const start = /^message\s+(\w+)\s*\{/.exec(line);
    if (start?.[1] !== undefined) {
      fields = [];
      messages.set(start[1], fields);
    } else if (line.startsWith("}")) {
      fields = undefined;
    } else if (fields !== undefined) {
      const match = FIELD.exec(line);
      if (match === null) continue;
      const [, label, single, value, name = "", number] = match;
      fields.push({
        name,
        number: Number(number),
        label: label === "optional" || label === "repeated" ? label : "map",
        type: single ?? value ?? "",
      });
    }
  }
  return messages;
}
