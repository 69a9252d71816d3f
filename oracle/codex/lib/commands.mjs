// Commands for the client to run in a folder. Each leaves a sign when it begins and one when it has ended, and may have to wait
// until it is let go; should nobody be left to do that, it ends after 25 seconds.
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export function commandsIn(folder) {
  const sign = (name, kind) => join(folder, `${name}.${kind}`)
  const all = kind => readdirSync(folder).filter(file => file.endsWith(`.${kind}`)).map(file => file.slice(0, -kind.length - 1)).sort()
  return {
    waiting(name) {
      writeFileSync(sign(name, 'wait'), '')
      return `: > ${name}.began; for n in $(seq 500); do [ -e ${name}.wait ] || break; sleep 0.05; done; : > ${name}.ended; echo ${name} is done`
    },
    quick: name => `: > ${name}.began; : > ${name}.ended; echo ${name} is done`,
    began: name => existsSync(sign(name, 'began')),
    ended: name => existsSync(sign(name, 'ended')),
    letGo: name => rmSync(sign(name, 'wait'), { force: true }),
    letAllGo: () => all('wait').forEach(name => rmSync(sign(name, 'wait'), { force: true })),
    allThatBegan: () => all('began'),
  }
}
