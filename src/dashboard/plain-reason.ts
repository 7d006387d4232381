// What stands in brackets for the operator: the file and table of a limit, or the name of a setting.
const settings = / \((?:[^()]*\.toml[^()]*|[a-z_]+(?:\.[a-z_]+)+)\)/g

/** Why mail waits, without what only the operator can look up: people of an account have neither files nor settings. */
export const plainReason = (says: string): string => says.replaceAll(settings, '')

// The name of a field of the API, in brackets behind what people call it.
const keys = / \([a-z]+(?:[A-Z][a-z]+)+\)/g

/** A refusal of the API, without the names of its fields: people who write campaigns have forms. */
export const plainRefusal = (says: string): string => says.replaceAll(keys, '')
