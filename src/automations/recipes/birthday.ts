import { dateEvent } from '../definition/index.js'
import { chain, type Recipe, sends, shortMail } from './recipe.js'

const mails = [
  shortMail('birthday-1', 'Happy birthday!', {
    says: 'Wish them well in a sentence or two. A small present brings many back: say what it is, and until when it is good.',
    button: 'Take your present',
  }),
] as const

/** The field of contacts that has the day, where the account names no other. */
const usualField = { name: 'birthday', label: 'Birthday' }

/** The one recipe that no event begins. */
export const birthday: Recipe = {
  name: 'birthday',
  title: 'Birthday',
  about:
    'A mail each year on the day, at nine in the morning where they are. It goes by a field of your contacts, such as birthday, with a day like 1990-02-28; the field is made where you have none.',
  mails,
  dateField: usualField,
  definition({ from, dateField = usualField.name }) {
    const [one] = mails
    return {
      steps: [
        {
          key: 'start',
          type: 'trigger',
          config: { eventName: dateEvent, date: { field: dateField } },
        },
        sends(one, from, 'Congratulations'),
      ],
      connections: chain('start', one.slug),
    }
  },
}
