/*
 * What cards are called after a button has added, moved or removed some of them: their places are their names.
 */

/** The name of a card's field after a deed such as `up:3` or `move:1.0.2:4`: cards after it have moved. */
export function nameAfter(deed: string, name: string): string {
  const [, what = '', where = '', to = ''] = /^(\w+):([\d.]*)(?::(\d+))?$/.exec(deed) ?? []
  const places = where.split('.')
  const last = places.pop() ?? ''
  const at = last === '' ? -1 : Number(last)
  const list = `${['b', ...places].join('.')}.`
  if (!name.startsWith(list)) return name
  const [head = '', ...rest] = name.slice(list.length).split('.')
  const target = { up: at - 1, down: at + 1, move: Number(to) }[what]
  const n = Number(head)
  const moved = target === undefined ? afterChange(what, n, at) : afterMove(n, at, target)
  return `${list}${[moved, ...rest].join('.')}`
}

/** The id of a card after a deed; undefined: it was removed. */
export function cardAfter(deed: string, id: string): string | undefined {
  const [what = '', where = ''] = deed.split(':')
  const place = id.replace('block-', '')
  if (what === 'gone' && `${place}.`.startsWith(`${where}.`)) return undefined
  return nameAfter(deed, `b.${place}`).replace(/^b\./, 'block-')
}

function afterChange(what: string, n: number, at: number): number {
  if (what === 'back') return n < at ? n : n + 1
  if (n <= at) return n
  return what === 'gone' ? n - 1 : what === 'add' || what === 'copy' ? n + 1 : n
}

function afterMove(n: number, at: number, to: number): number {
  if (n === at) return to
  if (at < n && n <= to) return n - 1
  return to <= n && n < at ? n + 1 : n
}
