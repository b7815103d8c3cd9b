// The scene around the person: the pictures of the cameras before him, a board below them, his controllers, and the floor.

import { product, shifted, sized, tilted, turnedLeft } from '/devices/matrix.js';
import { VrBoard } from '/devices/vr_board.js';
import { BANNER_SIZE, FLOOR_SIZE, STATE_SIZE, paintBanner, paintFloor, paintState } from '/devices/vr_boards.js';
import { Painter } from '/devices/vr_painter.js';
import { VrPicture } from '/devices/vr_picture.js';

const DISTANCE_M = 1.6;
const MAIN_M = 1.8; // width of the large picture
const ASIDE_M = 0.7; // of the others
const ASIDE_RAD = 0.8; // how far beside the large one they stand
const BOARD_M = 1.8;
const BANNER_M = 1.5;
const FLOOR_M = 1.5; // below the eyes; where the floor is, the headset need not say
const NO_PICTURE_RATIO = 4 / 3;
const FRAME_M = 0.025; // around the large picture

const DARK = [0.032, 0.041, 0.055, 1];
const CLEAR = [0, 0, 0, 0];
const TINTS = { rest: [0.6, 0.65, 0.7, 1], moving: [0.36, 0.58, 1, 1], limit: [0.95, 0.72, 0.29, 1], lost: [0.95, 0.72, 0.29, 1], stopped: [1, 0.37, 0.31, 1] };
// How each hand is shows around the picture, too, where the eyes are: its own half of the frame.
const FRAMES = { moving: TINTS.moving, limit: TINTS.limit, lost: TINTS.lost, stopped: TINTS.stopped, holding: [0.7, 0.73, 0.78, 1] };
const CALM = [0.16, 0.19, 0.24, 1];
const NONE = [0.08, 0.1, 0.13, 1];
const STANDING = [0.4, 0.4, 0.4, 1];

export class VrScene {
  constructor(gl, cameras) {
    this.painter = new Painter(gl);
    this.cameras = cameras;
    this.pictures = new Map();
    this.board = new VrBoard(this.painter, STATE_SIZE, paintState);
    this.banner = new VrBoard(this.painter, BANNER_SIZE, paintBanner);
    this.floor = new VrBoard(this.painter, FLOOR_SIZE, paintFloor);
    this.floor.show('');
    this.place = shifted(0, 0, 0);
    this.warns = false;
    this.stale = false;
    this.frames = [CALM, CALM];
  }

  // Puts the scene around somebody, with forward to where he faces. matrix: of his head; yaw: of forward [rad].
  centre(matrix, yaw) {
    this.middle = [matrix[12], matrix[13], matrix[14]];
    this.face(yaw);
  }

  face(yaw) {
    this.place = product(shifted(...this.middle), turnedLeft(yaw));
  }

  // state: of paintState; banner: of paintBanner, or null; stale: the picture is too old to drive by.
  say(state, banner, stale) {
    this.board.show(state);
    if (banner) this.banner.show(banner);
    this.warns = banner !== null;
    this.stale = stale;
    this.frames = [state.hands[0], state.hands.at(-1)].map((hand) => FRAMES[hand.state] ?? CALM);
  }

  // The pictures that there are: cameras come and go with the workcell.
  gather() {
    const { byName } = this.cameras;
    for (const [name, picture] of this.pictures) {
      if (byName.get(name) === picture.camera) continue;
      picture.close();
      this.pictures.delete(name);
    }
    for (const [name, camera] of byName) if (!this.pictures.has(name)) this.pictures.set(name, new VrPicture(this.painter, camera));
  }

  // Each rectangle: { texture, toRoom, tint }.
  panels() {
    const { place, pictures, cameras } = this;
    const main = pictures.get(cameras.main);
    const high_m = MAIN_M / (main?.ratio ?? NO_PICTURE_RATIO);
    const lift_m = 0.2;
    const tint = this.stale ? STANDING : undefined;
    const panels = this.frames.map((colour, index) => ({
      toRoom: product(place, shifted((index - 0.5) * (MAIN_M / 2 + FRAME_M), lift_m, -DISTANCE_M - 0.01), sized(MAIN_M / 2 + FRAME_M, high_m + 2 * FRAME_M)),
      tint: colour,
    }));
    panels.push(this.pictureAt(main, product(place, shifted(0, lift_m, -DISTANCE_M), sized(MAIN_M, high_m)), MAIN_M, tint));
    [...pictures.values()].filter((picture) => picture !== main).forEach((picture, index) => {
      const side = index % 2 ? 1 : -1; // right, left, right below, left below
      const height_m = ASIDE_M / (picture.ratio ?? NO_PICTURE_RATIO);
      const up_m = lift_m + (high_m - height_m) / 2 - Math.floor(index / 2) * (height_m + 0.06);
      panels.push(this.pictureAt(picture, product(place, turnedLeft(side * ASIDE_RAD), shifted(0, up_m, -DISTANCE_M), sized(ASIDE_M, height_m)), ASIDE_M));
    });
    const board_m = BOARD_M / this.board.ratio;
    panels.push({
      texture: this.board.texture,
      toRoom: product(place, shifted(0, lift_m - high_m / 2 - 0.05, -DISTANCE_M + 0.06), tilted(-0.35), shifted(0, -board_m / 2, 0), sized(BOARD_M, board_m)),
    });
    if (this.warns) panels.push({ texture: this.banner.texture, toRoom: product(place, shifted(0, lift_m + high_m * 0.28, -DISTANCE_M + 0.08), sized(BANNER_M, BANNER_M / this.banner.ratio)) });
    return panels;
  }

  pictureAt(picture, toRoom, wide_m, tint) {
    if (!picture?.ratio) return { toRoom, tint: NONE };
    return { texture: picture.texture, toRoom, tint, picture, wide_m };
  }

  // hands: those whose controllers are seen, { matrix, sign }. through: the room shines through.
  draw(viewer, layer, hands, through) {
    const { painter } = this;
    this.gather();
    for (const picture of this.pictures.values()) picture.upload();
    const panels = this.panels();
    const floor = product(this.place, shifted(0, -FLOOR_M, 0), tilted(-Math.PI / 2), sized(4, 4));
    painter.begin(layer.framebuffer, through ? CLEAR : DARK);
    for (const view of viewer.views) {
      const viewport = layer.getViewport(view);
      if (!viewport?.width) continue;
      painter.look(viewport);
      const toView = product(view.projectionMatrix, view.transform.inverse.matrix);
      painter.draw(painter.square, product(toView, floor), this.floor.texture);
      for (const { texture, toRoom, tint, picture, wide_m } of panels) {
        painter.draw(painter.square, product(toView, toRoom), texture, tint);
        if (picture) picture.width_px = (view.projectionMatrix[0] * wide_m * viewport.width) / (2 * DISTANCE_M);
      }
      for (const { matrix, sign } of hands) {
        const toGrip = product(toView, matrix);
        painter.draw(painter.cube, product(toGrip, sized(0.034, 0.034, 0.11)), undefined, TINTS[sign] ?? TINTS.rest);
        painter.draw(painter.cube, product(toGrip, shifted(0, 0.012, -0.065), sized(0.05, 0.02, 0.03)), undefined, TINTS[sign] ?? TINTS.rest);
      }
    }
  }

  close() {
    for (const picture of this.pictures.values()) picture.close();
    this.pictures.clear();
    this.painter.gl.getExtension('WEBGL_lose_context')?.loseContext(); // browsers keep few of them
  }
}
