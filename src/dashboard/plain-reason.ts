// What stands in brackets for the operator: the file and table of a limit, or the name of a setting.
const settings = / \((?:[^()]*\.toml[^()]*|[a-z_]+(?:\.[a-z_]+)+)\)/g

/** Why mail waits, without what only the operator can look up: people of an account have neither files nor settings. */
export const plainReason = (says: string): string => says.replaceAll(settings, '')
