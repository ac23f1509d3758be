/** Somebody who maps local codes, again and again to other codes. */
import { pause, type World } from '../world.ts';

const MAP_SYSTEM = 'https://codes.example.org';
const CODES = ['SOAK-A', 'SOAK-B', 'SOAK-C', 'SOAK-D'];

export async function changeMaps(world: World): Promise<void> {
  const { client, ledger } = world;
  const random = world.random('change-maps');
  for (let number = 1; !world.stopping; number += 1) {
    const localCode = random.pick(CODES);
    const targetCode = `C${number}`;
    // While a change is under way, nobody knows which of two codes stands.
    ledger.maps.delete(localCode);
    await client.insist('maps', '/terminology/maps', {
      method: 'PUT',
      token: await client.token(),
      body: { localCode, targetSystem: MAP_SYSTEM, targetCode },
      until: [200, 201],
    });
    ledger.maps.set(localCode, targetCode);
    await pause(random, 400);
  }
}
