/** Where a local code was met. */
export const PLACES = [
  'lab.order',
  'lab.result',
  'lab.report',
  'imaging.order',
  'imaging.report',
  'vitals.sign',
] as const;
export type Place = (typeof PLACES)[number];

type Dashed<Text extends string> = Text extends `${infer Area}.${infer Kind}` ? `${Area}-${Kind}` : Text;

/** Its name in the catalogues, whose keys have no dots. */
export function placeName(place: Place): Dashed<Place> {
  return place.replace('.', '-') as Dashed<Place>;
}
