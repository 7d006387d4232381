import type {
  AutomationDefinition,
  AutomationSettings,
  Outline,
  OutlineItem,
  OutlineWay,
} from '../../automations/index.js'
import { graphOf, isOutlineStep, limits, soundStep, waysOf } from '../../automations/index.js'
import { ApiError } from '../../errors/index.js'
import type { Form } from '../../http/index.js'
import { isJsonObject, jsonObjectIn } from '../../json/index.js'
import { changeOutline, itemAt } from './deeds.js'
import { settingsIn } from './settings-part.js'
import { configIn } from './step-form.js'

/** An automation as somebody has typed it; nothing is checked yet. */
export interface TypedAutomation {
  name: string
  outline: Outline
  settings: AutomationSettings | undefined
  /** The place of the card whose fields are in the form; `settings`, or empty for none. */
  open: string
}

/**
 * Throws a 422 where the form's outline arrived cut or changed: otherwise what is left of it would replace all steps.
 */
export function refuseUnreadable(fields: Form): void {
  if (fields.get('outline') === undefined || sentIn(fields) !== undefined) return
  throw new ApiError(
    'validation_error',
    'The steps did not come whole, so nothing was kept: what you see is what was kept before. Make your last change again',
    { status: 422 },
  )
}

/** The automation in the form, after the pressed button; undefined where the form has none that can be read. */
export function typedIn(fields: Form, from: string): TypedAutomation | undefined {
  const sent = sentIn(fields)
  if (sent === undefined) return undefined
  const { lists, settings } = sent
  const open = fields.get('open') ?? ''
  const item = itemAt(lists, open)
  if (isOutlineStep(item)) {
    const step = configIn(item.step, fields)
    item.step = step
    const before = item.ways
    item.ways = waysOf(step).map((way) => ({
      ...way,
      items: before.find((one) => one.type === way.type && one.branch === way.branch)?.items ?? [],
    }))
  }
  const typed = {
    name: (fields.get('name') ?? '').trim(),
    settings: settingsIn(settings, fields),
  }
  const pressed = fields.get('do') ?? ''
  const kind = fields.get(`kind.${pressed.replace(/^add:/, '')}`)
  const after = changeOutline(lists, pressed, { kind, from })
  return { ...typed, outline: lists, open: after ?? open }
}

/** Its steps and connections in the engine's form. */
export const definitionOf = ({ outline, settings }: TypedAutomation): AutomationDefinition => ({
  ...graphOf(outline),
  ...(settings !== undefined && { settings }),
})

/** The outline that a page has sent along; undefined where any part of it is not valid. */
function sentIn(
  fields: Form,
): { lists: Outline; settings: AutomationSettings | undefined } | undefined {
  const { lists, settings } = jsonObjectIn(fields.get('outline') ?? '') ?? {}
  if (!Array.isArray(lists) || lists.length > limits.steps) return undefined
  const seen = new Set<string>()
  const outline: Outline = []
  for (const list of lists) {
    const items = itemsIn(list, seen, 0)
    if (items === undefined) return undefined
    outline.push(items)
  }
  return {
    lists: outline.length === 0 ? [[]] : outline,
    settings: isJsonObject(settings) ? (settings as AutomationSettings) : undefined,
  }
}

/** The items of a list, each step once. The request is a stranger's: it may be nested as deep as a form is long. */
function itemsIn(given: unknown, seen: Set<string>, depth: number): OutlineItem[] | undefined {
  if (!Array.isArray(given) || depth > limits.steps) return undefined
  const items: OutlineItem[] = []
  for (const one of given) {
    const item = itemIn(one, seen, depth)
    if (item === undefined) return undefined
    items.push(item)
  }
  return items
}

function itemIn(one: unknown, seen: Set<string>, depth: number): OutlineItem | undefined {
  if (!isJsonObject(one)) return undefined
  if (one.end === true) return { end: true }
  if (typeof one.to === 'string') return { to: one.to }
  const step = soundStep(one.step)
  // A second step with the same key would make two of one.
  if (step === undefined || seen.has(step.key) || seen.size >= limits.steps) return undefined
  seen.add(step.key)
  const sent = Array.isArray(one.ways) ? one.ways.filter(isJsonObject) : []
  const ways: OutlineWay[] = []
  for (const way of waysOf(step)) {
    const { items: given = [] } =
      sent.find(({ type, branch }) => type === way.type && branch === way.branch) ?? {}
    const items = itemsIn(given, seen, depth + 1)
    if (items === undefined) return undefined
    ways.push({ ...way, items })
  }
  return { step, ways }
}
