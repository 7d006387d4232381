import type { AutomationSettings } from '../../automations/index.js'
import type { Form } from '../../http/index.js'
import type { Rule } from '../../rules/index.js'
import { field, fieldSet } from '../shell/field.js'
import { type Html, html } from '../shell/html.js'
import { isolated } from '../shell/names.js'
import { withRuleIn } from './settings-rules.js'
import type { StepChoices } from './step-choices.js'
import { filterPart } from './step-fields.js'

const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']

/** The settings of the whole automation: its hours, how many mails an hour, what ends it for somebody. */
export function settingsPart({
  settings = {},
  open,
  change,
  targets,
  says,
  asks,
  choices,
}: {
  settings: AutomationSettings | undefined
  open: string
  change: string
  /** Where a goal may lead. */
  targets: readonly { value: string; label: string }[]
  says: string
  /** What a rule asks for, in words. */
  asks: (rule: Rule) => string
  choices: StepChoices
}): Html {
  if (open !== 'settings' && !open.startsWith('settings:')) {
    return html`<section class="card" aria-labelledby="whole"><h2 id="whole" tabindex="-1">For all steps</h2><p>${isolated(says)}</p><p class="buttons"><button name="do" value="open:settings" formaction="${change}#whole" formnovalidate>Change what holds for all steps</button></p></section>`
  }
  const button = (value: string, label: string) =>
    html`<button name="do" value="open:${value}" formaction="${change}#open" formnovalidate>${label}</button>`
  const onlyIf = (place: string, { eventName, filter }: { eventName: string; filter?: Rule }) =>
    place === open
      ? html`<fieldset class="column" id="open"><legend>When “${eventName}” ends it</legend>${filterPart(filter, 'Only if', { choices, change })}<p class="buttons">${button('settings', 'Done')}</p></fieldset>`
      : html`<p>“${eventName}” ${filter === undefined ? 'always counts.' : html`counts only if ${isolated(asks(filter))}.`} ${button(place, 'Only if…')}</p>`
  const { goal, exitOn = [], sendWindow, maxPerHour, timeZone, onUnsubscribe } = settings
  const text = (name: string, label: string, value: string, hint: string) =>
    field({ name: `w.${name}`, label, value, hint, required: false, autocomplete: 'off' })
  return html`<section class="card" aria-labelledby="whole"><h2 id="whole" tabindex="-1">For all steps</h2><input type="hidden" name="w.here" value="on">
${text('exitOn', 'Events that end it for somebody', exitOn.map(({ eventName }) => eventName).join(', '), 'Wherever they are in it, such as order.paid; several with commas, 20 at most, each of 1 to 100 letters, digits, and _ . : -.')}${exitOn.map((one, at) => onlyIf(`settings:exit:${at}`, one))}
${text('goal', 'The event that is its goal', goal?.eventName ?? '', 'Who does it is counted as having reached the goal, and leaves. One name of 1 to 100 letters, digits, and _ . : -.')}${goal !== undefined && onlyIf('settings:goal', goal)}
${field({ name: 'w.goalTo', label: 'Where the goal leads', type: 'select', value: goal?.to ?? '', options: [{ value: '', label: 'It ends' }, ...targets] })}
${text('timeZone', 'Time zone', timeZone ?? '', 'Such as Africa/Lagos, for people whose own is not known. Empty: UTC.')}
<div class="tools">${field({ name: 'w.from', label: 'Mail leaves from', hint: 'Empty: at any hour. Two different times.', type: 'time', value: sendWindow?.from ?? '' })}${field({ name: 'w.to', label: 'until', type: 'time', value: sendWindow?.to ?? '' })}</div>
${fieldSet({ name: 'w.days', label: 'On these days', hint: 'None ticked: on any.', options: weekdays.map((label, at) => ({ value: String(at + 1), label })), value: (sendWindow?.days ?? []).map(String) })}
${text('maxPerHour', 'Mails in any hour at most', maxPerHour === undefined ? '' : String(maxPerHour), 'A whole number, 1 or more; the others wait. Empty: as many as there are.')}
${field({ name: 'w.stays', label: 'Who unsubscribes stays in it', hint: 'Only where every mail is something they must know.', type: 'checkbox', value: onUnsubscribe === 'continue' ? 'on' : '' })}
<p class="buttons"><button name="do" value="close:" formaction="${change}#whole" formnovalidate>Done</button></p></section>`
}

const heardWords = ({ eventName, filter }: { eventName: string; filter?: Rule }) =>
  `“${eventName}”${filter === undefined ? '' : ', under conditions,'}`

/** The settings in a sentence or two. */
export function settingsWords(settings: AutomationSettings = {}): string {
  const { goal, exitOn = [], sendWindow, maxPerHour, timeZone } = settings
  const parts = [
    sendWindow === undefined
      ? 'Mail leaves at any hour.'
      : `Mail leaves from ${sendWindow.from} to ${sendWindow.to}.`,
    maxPerHour === undefined ? '' : `At most ${maxPerHour} an hour.`,
    exitOn.length === 0 ? '' : `${exitOn.map(heardWords).join(' or ')} ends it.`,
    goal === undefined ? '' : `Its goal is ${heardWords(goal)}.`,
    timeZone === undefined ? '' : `Times are those in ${timeZone}.`,
  ]
  return parts.filter((one) => one !== '').join(' ')
}

/** The settings in a form; without their fields in the form, they stay. */
export function settingsIn(
  kept: AutomationSettings | undefined,
  fields: Form,
): AutomationSettings | undefined {
  if (fields.get('w.here') === undefined) return kept
  const before = withRuleIn(kept ?? {}, fields.get('open') ?? '', fields)
  const said = (name: string) => (fields.get(`w.${name}`) ?? '').trim()
  const exits = said('exitOn')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  const days = fields.all('w.days').map(Number)
  const most = said('maxPerHour')
  const zone = before.sendWindow?.zone
  const hasWindow = said('from') !== '' || said('to') !== ''
  const settings: AutomationSettings = {
    // An event that stays keeps its rule.
    ...(exits.length > 0 && {
      exitOn: exits.map(
        (eventName) => before.exitOn?.find((one) => one.eventName === eventName) ?? { eventName },
      ),
    }),
    ...(said('goal') !== '' && {
      goal: {
        ...(before.goal?.eventName === said('goal') &&
          before.goal.filter !== undefined && { filter: before.goal.filter }),
        eventName: said('goal'),
        ...(said('goalTo') !== '' && { to: said('goalTo') }),
      },
    }),
    ...(said('timeZone') !== '' && { timeZone: said('timeZone') }),
    ...(hasWindow && {
      sendWindow: {
        from: said('from'),
        to: said('to'),
        ...(days.length > 0 && { days }),
        ...(zone !== undefined && { zone }),
      },
    }),
    // A text that is no number is refused later, in its own words.
    ...(most !== '' && { maxPerHour: Number(most) }),
    ...(said('stays') !== '' && { onUnsubscribe: 'continue' as const }),
  }
  return Object.keys(settings).length === 0 ? undefined : settings
}
