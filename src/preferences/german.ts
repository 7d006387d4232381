import type { Strings } from './strings.js'

const unaffected = 'E-Mails zu Ihren eigenen Bestellungen oder Ihrem Konto bleiben davon unberührt.'
const underWay = 'Eine E-Mail, die schon unterwegs ist, kann noch ankommen.'

export const german: Strings = {
  language: 'de',
  footerReason: (account, topic) =>
    topic === undefined
      ? `Sie erhalten diese E-Mail von ${account}.`
      : `Sie erhalten diese E-Mail von ${account} zum Thema „${topic}“.`,
  footerChoose: 'Auswählen, was Sie erhalten',
  footerLeave: 'Abbestellen',
  someTopic: 'diesem Thema',
  ask: {
    title: 'Abbestellen?',
    lines: ({ account, address, topic }) => [
      topic === undefined
        ? `${account} schickt dann keine Werbe-E-Mails mehr an ${address}.`
        : `${account} schickt dann keine E-Mails zum Thema „${topic}“ mehr an ${address}.`,
      unaffected,
    ],
    button: 'Abbestellen',
  },
  done: {
    title: 'Sie sind abgemeldet',
    lines: ({ account, address, topic }) => [
      topic === undefined
        ? `${address} erhält keine Werbe-E-Mails mehr von ${account}.`
        : `${address} erhält keine E-Mails zum Thema „${topic}“ mehr von ${account}.`,
      underWay,
    ],
    button: 'Rückgängig: wieder anmelden',
  },
  back: {
    title: 'Sie sind wieder angemeldet',
    lines: ({ account, address, topic }) => [
      topic === undefined
        ? `${address} erhält wieder Werbe-E-Mails von ${account}.`
        : `${address} erhält wieder E-Mails zum Thema „${topic}“ von ${account}.`,
    ],
    button: 'Abbestellen',
  },
  reason: {
    legend: 'Sagen Sie uns, warum? Sie müssen nicht.',
    choices: {
      too_many: 'Es sind zu viele',
      not_wanted: 'Ich möchte sie nicht mehr',
      never_asked: 'Ich habe nie darum gebeten',
      other: 'Etwas anderes',
    },
    words: 'In Ihren eigenen Worten',
    button: 'Senden',
    thanks: 'Danke.',
  },
  toCentre: 'Nach Themen auswählen, was Sie erhalten',
  centre: {
    title: ({ account }) => `Was Sie von ${account} erhalten`,
    intro: {
      subscribed: ({ account, address }) =>
        `Auf dieser Seite geht es um die Werbe-E-Mails, die ${account} an ${address} schickt.`,
      left: ({ account, address }) =>
        `${account} schickt keine Werbe-E-Mails an ${address}: Sie haben alles abbestellt.`,
    },
    unaffected,
    unreachable: ({ account, address }) =>
      `E-Mails von ${account} können ${address} zurzeit nicht erreichen, und diese Seite kann das nicht ändern. Ihre Auswahl bleibt gespeichert. Wenn Ihnen die E-Mails fehlen, schreiben Sie bitte dem Absender.`,
    legend: 'Kreuzen Sie an, was Sie erhalten möchten',
    save: 'Auswahl speichern',
    parts: {
      line: 'Es gibt weitere Themen. Speichern Sie hier Ihre Auswahl, bevor Sie weitergehen.',
      earlier: 'Vorherige Themen',
      more: 'Weitere Themen',
    },
    fields: {
      title: ({ account }) => `Was ${account} von Ihnen weiß`,
      line: 'Sie können es hier ändern oder leer lassen.',
      none: '– nichts –',
      save: 'Änderungen speichern',
      saved: 'Ihre Änderungen sind gespeichert.',
      notSaved: 'Noch ist nichts gespeichert: Bitte sehen Sie sich an, was markiert ist.',
      wrong: {
        text: 'Bitte schreiben Sie höchstens 300 Zeichen in eine Zeile.',
        number: 'Bitte schreiben Sie eine Zahl, etwa 12 oder 3,5.',
        date: 'Bitte schreiben Sie ein Datum, etwa 2026-11-29.',
        choice: 'Bitte wählen Sie eines davon.',
      },
    },
    leave: {
      title: 'Gar nichts mehr?',
      line: ({ account }) => `Keine Werbe-E-Mails von ${account} mehr, auch nicht zu neuen Themen.`,
      button: 'Alles abbestellen',
    },
    comeBack: {
      title: 'Anders überlegt?',
      line: ({ account }) =>
        `Erhalten Sie wieder dieselben Werbe-E-Mails von ${account} wie zuvor.`,
      button: 'Wieder anmelden',
    },
    status: {
      saved: 'Ihre Auswahl ist gespeichert.',
      savedNone:
        'Ihre Auswahl ist gespeichert: keines dieser Themen. E-Mails zu anderem können weiterhin kommen; unten können Sie alles abbestellen.',
      stillLeft: 'Es war nichts angekreuzt, daher hat sich nichts geändert.',
      left: `Sie haben alles abbestellt. ${underWay}`,
      back: 'Sie sind wieder angemeldet.',
    },
  },
  erased: {
    title: 'Ihre Daten sind gelöscht',
    lines: ({ account, address }) => [
      `${account} hat gelöscht, was über ${address} bekannt war, und sendet dorthin keine Werbe-E-Mails mehr.`,
      `Hier wurde nichts geändert und nichts gespeichert. Möchten Sie wieder E-Mails von ${account}, so melden Sie sich bitte über ein Formular dort an.`,
    ],
  },
  shown: {
    title: 'Dieser Link ist nur ein Beispiel',
    lines: [
      'Er steht in der Kopie einer E-Mail, die nicht die des Empfängers ist.',
      'In der E-Mail selbst führt er zu der Seite, auf der man sich abmeldet.',
    ],
  },
  unknown: {
    title: 'Dieser Link funktioniert nicht',
    lines: [
      'Vielleicht wurde er abgeschnitten: Öffnen Sie ihn noch einmal aus der E-Mail, oder kopieren Sie ihn ganz.',
      'Sie können auch auf die E-Mail antworten und den Absender bitten, Ihnen nichts mehr zu schicken.',
    ],
  },
}
