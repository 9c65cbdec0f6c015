# Builds the checkout: nix-build -E 'with import <nixpkgs> { }; callPackage ./packaging/nix/package.nix { }'
{ lib, rustPlatform, installShellFiles }:

rustPlatform.buildRustPackage {
  pname = "transect";
  version = "@VERSION@";
  src = ../..;
  cargoLock.lockFile = ../../Cargo.lock;
  buildType = "dist";
  nativeBuildInputs = [ installShellFiles ];
  # The tests mount file systems and need other programs.
  doCheck = false;
  postInstall = ''
    for program in transect transect-lab; do
      $out/bin/$program man --output man1
      installShellCompletion --cmd $program \
        --bash <($out/bin/$program completions bash) \
        --zsh <($out/bin/$program completions zsh) \
        --fish <($out/bin/$program completions fish)
    done
    installManPage man1/*
  '';
  meta = {
    description = "Walks directory trees as fast as the kernel allows, and counts what is there";
    homepage = "@URL@";
    license = with lib.licenses; [ mit asl20 ];
    mainProgram = "transect";
    platforms = lib.platforms.linux;
  };
}
