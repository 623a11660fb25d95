/** Tool schemas: what zod describes, as the JSON Schema that the model reads. */

/** A JSON Schema of an object. */
export type JsonSchema = Record<string, unknown>;

/** What a tool's arguments go through before its handler sees them. */
export interface ToolSchema {
  json: JsonSchema;
  /** Fills in defaults and applies what JSON Schema cannot say; throws on arguments that do not fit. */
  parse(args: unknown): Promise<unknown>;
}

interface Zod {
  object(shape: object): any;
  /** Since zod 4.2. */
  fromJSONSchema?(schema: JsonSchema): any;
  toJSONSchema(schema: any, options: object): JsonSchema;
}

type Validate = (args: unknown) => { valid: boolean; errorMessage?: string };

let loaded: Zod | null | undefined;

/** zod, which the application brings. */
function zod(): Zod | null {
  if (loaded === undefined) {
    try {
      loaded = require('zod/v4') as Zod;
    } catch {
      loaded = null;
    }
  }
  return loaded;
}

function isZod4(value: any): boolean {
  return typeof value === 'object' && value !== null && '_zod' in value;
}

function isZod3(value: any): boolean {
  return typeof value === 'object' && value !== null && '_def' in value && !('_zod' in value);
}

/** What the MCP SDK offers to read zod 3 with. */
interface Zod3 {
  objectFromShape(shape: object): any;
  toJsonSchemaCompat(schema: any): JsonSchema;
}

function zod3(): Zod3 {
  try {
    return {
      ...require('@modelcontextprotocol/sdk/server/zod-compat.js'),
      ...require('@modelcontextprotocol/sdk/server/zod-json-schema-compat.js'),
    };
  } catch {
    throw new Error(
      'it is a schema of zod 3, which @modelcontextprotocol/sdk reads: install that, or build the ' +
        'schema with zod 4 (`import { z } from "zod/v4"`)',
    );
  }
}

/** Descriptions and titles that an instance of zod other than the converting one keeps. */
function addOwnMeta({ zodSchema, jsonSchema }: { zodSchema: any; jsonSchema: JsonSchema }): void {
  for (const [key, value] of Object.entries(zodSchema.meta?.() ?? {})) {
    if (key !== 'id' && !(key in jsonSchema)) jsonSchema[key] = value;
  }
}

/** What a zod schema wants, as the words of the MCP SDK. */
function problems(tool: string, error: any): Error {
  const told = typeof error?.message === 'string' ? error.message : String(error);
  return new Error(`MCP error -32602: Input validation error: Invalid arguments for tool ${tool}: ${told}`);
}

/** The schema of a tool: a zod shape, a zod object, or JSON Schema itself. */
export function toolSchema(tool: string, input: any): ToolSchema {
  const shape = input ?? {};
  const values = Object.values(shape);
  if (values.some(isZod3) || isZod3(input)) {
    const { objectFromShape, toJsonSchemaCompat } = zod3();
    const object = isZod3(input) ? input : objectFromShape(shape);
    return checked(tool, object, toJsonSchemaCompat(object));
  }
  if (!isZod4(shape) && values.length > 0 && !values.every(isZod4)) {
    if (shape.type === 'object') return ofJsonSchema(tool, shape);
    throw new Error('it is neither a zod shape nor a JSON Schema of an object');
  }
  if (values.length === 0 && !isZod4(shape)) {
    const json = { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', properties: {} };
    return { json, parse: async () => ({}) };
  }
  const z = zod();
  if (z === null) {
    throw new Error('zod is not installed where towline finds it: npm install zod');
  }
  const object = isZod4(shape) ? shape : z.object(shape);
  return checked(tool, object, z.toJSONSchema(object, { target: 'draft-7', io: 'input', override: addOwnMeta }));
}

/** A schema that is JSON Schema already: zod reads it, or the validator of the MCP SDK. */
function ofJsonSchema(tool: string, json: JsonSchema): ToolSchema {
  const fromJSONSchema = zod()?.fromJSONSchema;
  if (fromJSONSchema) return checked(tool, fromJSONSchema(json), json);
  let ajv: { AjvJsonSchemaValidator: new () => { getValidator(schema: JsonSchema): Validate } };
  try {
    ajv = require('@modelcontextprotocol/sdk/validation/ajv');
  } catch {
    throw new Error(
      'it is JSON Schema, and nothing is installed that arguments could be checked with: ' +
        'npm install zod (4.2 or newer) or @modelcontextprotocol/sdk',
    );
  }
  const validate = new ajv.AjvJsonSchemaValidator().getValidator(json);
  return {
    json,
    async parse(args) {
      const found = validate(args);
      if (!found.valid) throw problems(tool, { message: found.errorMessage });
      return args;
    },
  };
}

function checked(tool: string, object: any, json: JsonSchema): ToolSchema {
  return {
    json,
    async parse(args) {
      const parsed = await object.safeParseAsync(args);
      if (!parsed.success) throw problems(tool, parsed.error);
      return parsed.data;
    },
  };
}
