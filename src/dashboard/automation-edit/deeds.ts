import {
  isOutlineStep,
  limits,
  type Outline,
  type OutlineItem,
  type OutlineStep,
  type StepDefinition,
  type StepType,
  stepsInOrder,
  stepTypes,
  waysOf,
} from '../../automations/index.js'

/*
 * What the buttons of the outline do. A place is the number of a list and of an item in it, then in turn the number of
 * a way and of an item in that: `0.3`, `0.3.1.0`. A last number of -1 is the beginning of a list.
 */

/** The item at a place. */
export function itemAt(outline: Outline, place: string): OutlineItem | undefined {
  const found = listAt(outline, place)
  return found?.items[found.at]
}

function listAt(outline: Outline, place: string): { items: OutlineItem[]; at: number } | undefined {
  if (!/^\d+\.-?\d+(\.\d+\.-?\d+)*$/.test(place)) return undefined
  const [first = 0, at = 0, ...deeper] = place.split('.').map(Number)
  let items = outline[first]
  let here = at
  for (let n = 0; n < deeper.length; n += 2) {
    const item = items?.[here]
    items = isOutlineStep(item) ? item.ways[deeper[n] ?? 0]?.items : undefined
    here = deeper[n + 1] ?? 0
  }
  return items === undefined ? undefined : { items, at: here }
}

/** The place of the step with a key. */
export function placeOf(outline: Outline, key: string): string | undefined {
  const within = (items: readonly OutlineItem[], list: string): string | undefined => {
    for (const [at, item] of items.entries()) {
      if (!isOutlineStep(item)) continue
      if (item.step.key === key) return `${list}.${at}`
      for (const [n, way] of item.ways.entries()) {
        const found = within(way.items, `${list}.${at}.${n}`)
        if (found !== undefined) return found
      }
    }
    return undefined
  }
  return outline.map((items, list) => within(items, `${list}`)).find((one) => one !== undefined)
}

const besides = (place: string, at: number) => [...place.split('.').slice(0, -1), at].join('.')

/**
 * Does `open:0.3`, `close:`, `up:0.3`, `down:0.3`, `move:0.3:5` (to that place of its list), `copy:0.3`, `gone:0.3`,
 * `add:0.3` (it adds a `kind`). Answers which place is open then; undefined where that does not change.
 */
export function changeOutline(
  outline: Outline,
  pressed: string,
  { kind, from }: { kind: string | undefined; from: string },
): string | undefined {
  const [, deed = '', place = '', to] =
    /^(open|close|up|down|move|copy|gone|add|way):(.*?)(?::(\d+))?$/.exec(pressed) ?? []
  if (deed === 'open') return pressed.slice('open:'.length)
  if (deed === 'close') return ''
  const found = listAt(outline, place)
  if (found === undefined) return undefined
  const { items, at } = found
  const isFull = stepsInOrder(outline).length >= limits.steps
  if (deed === 'add') {
    const type = stepTypes.find((one) => one === kind && one !== 'trigger')
    if (type === undefined || isFull) return undefined
    const made = newStep(type, { keys: keysOf(outline), from })
    items.splice(at + 1, 0, made)
    return besides(place, at + 1)
  }
  const item = items[at]
  if (item === undefined) return undefined
  if (deed === 'gone') {
    items.splice(at, 1)
    dropLinks(outline)
    return ''
  }
  if (deed === 'copy' && isOutlineStep(item)) {
    if (stepsInOrder(outline).length + stepsInOrder([[item]]).length > limits.steps)
      return undefined
    items.splice(at + 1, 0, copied(item, keysOf(outline)))
    return besides(place, at + 1)
  }
  const target = { up: at - 1, down: at + 1, move: Number(to) }[deed] ?? -1
  if (!mayStand(items, at) || !mayStand(items, target)) return undefined
  items.splice(at, 1)
  items.splice(target, 0, item)
  return besides(place, target)
}

/** Nothing may stand above the trigger, and an end stays at the end. */
export function mayStand(items: readonly OutlineItem[], at: number): boolean {
  const item = items[at]
  return isOutlineStep(item) && item.step.type !== 'trigger' && item.step.type !== 'exit'
}

const keysOf = (outline: Outline) => new Set(stepsInOrder(outline).map(({ key }) => key))

/** Links to deleted steps lead nowhere. */
function dropLinks(outline: Outline): void {
  const keys = keysOf(outline)
  const clean = (lists: OutlineItem[][]): void => {
    for (const items of lists) {
      for (let at = items.length - 1; at >= 0; at--) {
        const item = items[at]
        if (item !== undefined && 'to' in item && !keys.has(item.to)) items.splice(at, 1)
        else if (isOutlineStep(item)) clean(item.ways.map((way) => way.items))
      }
    }
  }
  clean(outline)
}

/** A copy of an item, in which each step has a new key. */
function copied(item: OutlineStep, keys: Set<string>): OutlineStep {
  const renamed = new Map<string, string>()
  for (const { key } of stepsInOrder([[item]]))
    renamed.set(key, freeKey(`${key.replace(/-\d+$/, '')}`, keys))
  const copy = (one: OutlineItem): OutlineItem => {
    if ('to' in one) return { to: renamed.get(one.to) ?? one.to }
    if (!isOutlineStep(one)) return one
    const step = structuredClone(one.step)
    step.key = renamed.get(step.key) ?? step.key
    return { step, ways: one.ways.map((way) => ({ ...way, items: way.items.map(copy) })) }
  }
  return copy(item) as OutlineStep
}

/** A key that no other step has. */
export function freeKey(wanted: string, keys: Set<string>): string {
  const base = wanted.slice(0, 60) || 'step'
  for (let n = 1; ; n++) {
    const key = n === 1 ? base : `${base}-${n}`
    if (keys.has(key)) continue
    keys.add(key)
    return key
  }
}

const usualKey: Record<StepType, string> = {
  trigger: 'start',
  send_email: 'mail',
  delay: 'wait',
  wait_for_event: 'heard',
  condition: 'if',
  contact_update: 'set',
  split: 'split',
  webhook: 'tell',
  exit: 'end',
}

/** A new step: with what most people choose, and without what nobody can guess. */
function newStep(type: StepType, { keys, from }: { keys: Set<string>; from: string }): OutlineStep {
  const config: Record<StepType, object> = {
    trigger: { eventName: '' },
    send_email: { template: '', from },
    delay: { duration: 'P3D' },
    wait_for_event: { eventName: '', timeout: 'P3D' },
    condition: {
      all: [{ field: 'contact.email', operator: 'contains', value: '', ignoreCase: true }],
    },
    contact_update: { metadata: {} },
    split: { branches: ['a', 'b'].map((key) => ({ key, percent: 50 })) },
    webhook: { endpointId: '' },
    exit: {},
  }
  const step = { key: freeKey(usualKey[type], keys), type, config: config[type] } as StepDefinition
  return { step, ways: waysOf(step).map((way) => ({ ...way, items: [] })) }
}
