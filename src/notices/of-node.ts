/** Notices of one machine: where several nodes look each has its own, under its name, which no other one settles. */
export interface NodeNotices {
  key(key: string): string
  /** Whether a notice with this key is one that this machine sees to. */
  isOwn(key: string): boolean
  /** The key as it would be of an appliance that is alone. */
  plain(key: string): string
  /** The first line says where. */
  text(text: string | readonly string[]): string[]
}

/** `name`: of the node; undefined of an appliance that is alone. */
export const noticesOf = (name: string | undefined): NodeNotices => {
  const suffix = name === undefined ? '' : `@${name}`
  return {
    key: (key) => `${key}${suffix}`,
    isOwn: (key) => key.endsWith(suffix),
    plain: (key) => (suffix === '' ? key : key.slice(0, -suffix.length)),
    text(text) {
      const [first = '', ...others] = typeof text === 'string' ? [text] : text
      return [name === undefined ? first : `${first} (on ${name})`, ...others]
    },
  }
}
