import type {
  AutomationDefinition,
  AutomationSettings,
  Outline,
  OutlineItem,
} from '../../automations/index.js'
import { graphOf, isOutlineStep, limits, soundStep, waysOf } from '../../automations/index.js'
import type { Form } from '../../http/index.js'
import { isJsonObject } from '../../json/index.js'
import { changeOutline, itemAt } from './deeds.js'
import { settingsIn } from './settings-part.js'
import { configIn } from './step-form.js'

/** An automation as somebody has typed it: nothing of it is checked yet. */
export interface TypedAutomation {
  name: string
  outline: Outline
  settings: AutomationSettings | undefined
  /** The place of the card whose fields are in the form; `settings`, or empty for none. */
  open: string
}

/** What the form has, after the button that was pressed; undefined where it has none. */
export function typedIn(fields: Form, from: string): TypedAutomation | undefined {
  const given = fields.get('outline')
  if (given === undefined) return undefined
  const { lists, settings } = sentIn(given)
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

/** Its steps and connections as the engine has them. */
export const definitionOf = ({ outline, settings }: TypedAutomation): AutomationDefinition => ({
  ...graphOf(outline),
  ...(settings !== undefined && { settings }),
})

/** The outline that a page has sent along, as far as it has the shape of one. */
function sentIn(text: string): { lists: Outline; settings: AutomationSettings | undefined } {
  let given: unknown
  try {
    given = JSON.parse(text)
  } catch {
    given = undefined
  }
  const { lists = [], settings } = isJsonObject(given) ? given : {}
  const seen = new Set<string>()
  const outline = (Array.isArray(lists) ? lists : [])
    .slice(0, limits.steps)
    .map((list) => itemsIn(list, seen, 0))
  return {
    lists: outline.length === 0 ? [[]] : outline,
    settings: isJsonObject(settings) ? (settings as AutomationSettings) : undefined,
  }
}

// Deeper than anybody branches; what is sent is somebody's, and may be as deep as a form is long.
const deepest = 40

function itemsIn(given: unknown, seen: Set<string>, depth: number): OutlineItem[] {
  if (!Array.isArray(given) || depth > deepest) return []
  return given.flatMap((one): OutlineItem[] => {
    if (!isJsonObject(one)) return []
    if (one.end === true) return [{ end: true }]
    if (typeof one.to === 'string') return [{ to: one.to }]
    const step = soundStep(one.step)
    // A step of a key that is there already would be two in one.
    if (step === undefined || seen.has(step.key) || seen.size >= limits.steps) return []
    seen.add(step.key)
    const ways = Array.isArray(one.ways) ? one.ways.filter(isJsonObject) : []
    const itemsOf = ({ type, branch }: { type: string; branch?: string }) =>
      ways.find((way) => way.type === type && way.branch === branch)?.items
    return [
      {
        step,
        ways: waysOf(step).map((way) => ({
          ...way,
          items: itemsIn(itemsOf(way), seen, depth + 1),
        })),
      },
    ]
  })
}
